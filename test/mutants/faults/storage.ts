import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const memoryStorage = 'test/storage/memory/memory-storage.test.ts';

/** `src/storage`: what all adapters share. */
export const storageFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/json-page.ts',
    ['test/storage/json-page.test.ts'],
    [
      {
        name: 'JSON page: a page cut by the limit is reported as the last',
        find: 'limit: limit + 1',
        replace: 'limit',
      },
      {
        name: 'JSON page: a full page is reported as the last',
        find: 'isCut || (fullPageEnd',
        replace: 'isCut && (fullPageEnd',
      },
      { name: 'JSON page: a page contains one plant too many', find: 'if (isCut) plants.pop();', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/storage/key-order.ts',
    [memoryStorage],
    [
      {
        name: 'key order: users are compared by UTF-16 code unit',
        find: 'codeUnit + 0x10000 : codeUnit',
        replace: 'codeUnit : codeUnit',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/page-bounds.ts',
    [memoryStorage],
    [
      {
        name: 'page bounds: a page may contain 1001 plants',
        find: 'maxPageLength = 1000',
        replace: 'maxPageLength = 1001',
        tests: ['test/store/plant-store.test.ts'],
      },
      {
        name: 'page bounds: control characters are counted as 3 bytes',
        find: 'maxCodeUnitBytes = 6',
        replace: 'maxCodeUnitBytes = 3',
      },
      { name: 'page bounds: a plant is measured twice', find: 'measured = end;', replace: '' },
    ],
  ),
];
