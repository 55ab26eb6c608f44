import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

const admin = 'test/cli/commands/serve/admin.test.ts';

/** `src/cli/admin`: the admin port. */
export const adminFaults: readonly Fault[] = [
  ...faultsIn(
    'src/cli/admin/admin-server.ts',
    [admin],
    [
      {
        name: 'admin port: every method is allowed',
        find: `method !== 'GET' && method !== 'HEAD'`,
        replace: `method === ''`,
      },
      {
        name: 'admin port: /ready is always 200',
        find: 'return problem === undefined ?',
        replace: "return problem !== '' ?",
      },
    ],
  ),
  ...faultsIn(
    'src/cli/admin/readiness.ts',
    ['test/cli/admin/readiness.test.ts'],
    [
      { name: 'readiness: each request starts a probe', find: 'this.#probe ??= {', replace: 'this.#probe = {' },
      {
        name: 'readiness: the result of a probe is never reused',
        find: 'now - this.#lastProbe.endedAtMs < reuseMs',
        replace: 'now < this.#lastProbe.endedAtMs',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/admin/metric-types.ts',
    ['test/cli/admin/metric-types.test.ts'],
    [
      { name: 'histogram: buckets are not cumulative', find: 'total += count;', replace: 'total = count;' },
      { name: 'histogram: upper bounds are exclusive', find: 'value <= bound', replace: 'value < bound' },
    ],
  ),
  ...faultsIn(
    'src/cli/admin/exposition.ts',
    ['test/cli/admin/metric-types.test.ts'],
    [{ name: 'exposition: quotes in labels are not escaped', find: '/[\\\\"]/g', replace: '/[\\\\]/g' }],
  ),
  ...faultsIn(
    'src/cli/admin/service-metrics.ts',
    [admin],
    [
      {
        name: 'service metrics: commits are not counted',
        find: `    subscribe('plant-store:commit', this.#onCommit);\n`,
        replace: '',
      },
    ],
  ),
];
