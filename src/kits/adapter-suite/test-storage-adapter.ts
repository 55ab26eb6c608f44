import { testClose, testDataVersion, testSecondAdapter } from './close.ts';
import { testCommit, testUnderPlantStore } from './commit.ts';
import { testFault } from './fault.ts';
import { testLists } from './list.ts';
import { makeSuite } from './suite.ts';
import type { StorageAdapterTestOptions, StorageLocation, Suite } from './suite.ts';

/**
 * Registers tests that check a storage adapter against the whole contract of `StorageAdapter`. Call this function at
 * the top level of a test file. The default test runner is node:test. The `runner` option selects another test runner,
 * which must have `describe` and `it`.
 *
 * @throws {TypeError} if an option is invalid; the message names the option.
 * @example
 * testStorageAdapter('MyStorage', {
 *   createLocation: async (t) => {
 *     const folder = await mkdtemp(join(tmpdir(), 'my-storage-'));
 *     t.after(() => rm(folder, { recursive: true }));
 *     const open = () => new MyStorage(folder);
 *     return { open, reopen: open };
 *   },
 *   persistent: true,
 * });
 */
export function testStorageAdapter<Location extends StorageLocation>(
  name: string,
  options: StorageAdapterTestOptions<Location>,
): void {
  const suite = makeSuite(name, options);
  const sections: Record<string, (suite: Suite) => void> = {
    commit: testCommit,
    'a failing commit': testFault,
    'list and scan': testLists,
    'a PlantStore that uses the adapter': testUnderPlantStore,
    'dataVersion, if implemented': testDataVersion,
    close: testClose,
    'a second adapter on the same location': testSecondAdapter,
  };
  suite.describe(`${name} as a StorageAdapter`, () => {
    for (const [title, register] of Object.entries(sections)) {
      suite.describe(title, register.bind(undefined, suite));
    }
  });
}
