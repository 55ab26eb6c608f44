import fc from 'fast-check';
import type { StoredPlant } from '../../src/index.ts';
import { collector, users } from './callers.ts';
import { rule } from './finding.ts';
import { collection } from './fuzzed-server.ts';
import type { FuzzedServer } from './fuzzed-server.ts';
import { checkConnection, operationsOf } from './check-connection.ts';
import { WriteHistory } from './write-history.ts';
import { anyId } from './numbers.ts';
import { runScript } from './client-script.ts';
import type { Script } from './client-script.ts';
import { requestBytes } from './request-bytes.ts';

/** One case that the property is checked with. */
interface Case {
  /** The plants that exist before. */
  readonly plants: readonly (readonly [user: string, plant: StoredPlant])[];
  /** One for each of the concurrent connections. */
  readonly scripts: readonly Script[];
}

const part = fc.nat(1000).map((n) => n / 1000);

const script: fc.Arbitrary<Script> = fc.record(
  {
    drafts: fc.array(requestBytes, { minLength: 1, maxLength: 5, size: 'max' }),
    isStepwise: fc.boolean(),
    cuts: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(part, { maxLength: 5 }) },
    ),
    ending: fc.constantFrom('waits', 'waits', 'waits', 'waits', 'half-closes', 'destroys', 'resets'),
    endsAt: part,
  },
  { noNullPrototype: true },
);

const plant = fc.record({ id: anyId, name: fc.constantFrom('old', '"', '\u{1F33F}') }, { noNullPrototype: true });

const anyCase: fc.Arbitrary<Case> = fc.record(
  {
    plants: fc.uniqueArray(fc.tuple(fc.constantFrom(...users), plant), {
      maxLength: 5,
      selector: ([user, { id }]) => `${user} ${id}`,
    }),
    scripts: fc.oneof(
      { weight: 3, arbitrary: fc.array(script, { minLength: 1, maxLength: 1 }) },
      { weight: 1, arbitrary: fc.array(script, { minLength: 2, maxLength: 4 }) },
    ),
  },
  { noNullPrototype: true },
);

/** The time limit of a case, far above what a busy machine needs. */
const maxCaseMs = 20_000;

/** The property: whatever clients send, the server behaves as the interface specifies. */
export function serverProperty(
  withServer: (run: (server: FuzzedServer) => Promise<void>) => Promise<void>,
): fc.IAsyncPropertyWithHooks<[Case]> {
  return fc.asyncProperty(anyCase, async ({ plants, scripts }) => {
    const start = performance.now();
    await withServer((server) => runCase(server, { plants, scripts }));
    rule(performance.now() - start < maxCaseMs, () => `the case took ${performance.now() - start} ms`);
  });
}

async function runCase(server: FuzzedServer, { plants, scripts }: Case): Promise<void> {
  await server.reset(plants);
  const results = await Promise.all(scripts.map((script) => runScript(server.port, script)));
  await server.checkIdle();
  const history = new WriteHistory([...plants, ...collection.map((plant) => [collector, plant] as const)]);
  const operations = results.map(operationsOf);
  for (const operation of operations.flat()) {
    if (operation.kind === 'create') history.addSent(operation.user, operation.plant);
  }
  const usersByConnection = operations.map(
    (all) => new Set(all.flatMap((operation) => ('user' in operation ? [operation.user] : []))),
  );
  for (const [n, result] of results.entries()) {
    const isOrderKnown = (user: string): boolean =>
      user === collector || usersByConnection.every((others, other) => other === n || !others.has(user));
    checkConnection(result, history, isOrderKnown);
  }
  for (const user of users) history.check(user, await server.store.listPlants(user));
}
