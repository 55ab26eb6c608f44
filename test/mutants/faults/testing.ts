import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const testStorageAdapter = 'test/testing/test-storage-adapter.test.ts';

/** `src/testing`: the suite for adapters. */
export const testingFaults: readonly Fault[] = [
  ...faultsIn(
    'src/testing/commit.ts',
    [testStorageAdapter],
    [
      {
        name: 'adapter suite: the writes of a failed batch are not checked',
        find: 'await expectNothingWritten([storage]);',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/testing/watched-adapter.ts',
    [testStorageAdapter],
    [
      {
        name: 'adapter suite: a page that includes the plant at after is accepted',
        find: 'let last = after;\n  for (const [index',
        replace: 'let last: PlantId | undefined;\n  for (const [index',
      },
      {
        name: 'adapter suite: a page longer than its limit is accepted',
        find: 'page.length <= limit,',
        replace: 'page.length <= limit + 1_000_000,',
      },
      {
        name: 'adapter suite: the message for a method that throws is wrong',
        find: 'It must return a promise that rejects.',
        replace: 'It may do that.',
      },
    ],
  ),
];
