import { testClose, testSecondAdapter } from './close.ts';
import { testCommit } from './commit.ts';
import { testFault } from './fault.ts';
import { testFidelity } from './fidelity.ts';
import { testList } from './list.ts';
import { testDataVersion, testListJson } from './optional.ts';
import { testScan } from './scan.ts';
import { testUnderPlantStore } from './under-plant-store.ts';
import { makeSuite } from './suite.ts';
import type { StorageAdapterTestOptions, StorageLocation, Suite } from './suite.ts';

/**
 * Registers the tests for a storage adapter, which cover the whole contract of `StorageAdapter`. Call
 * it at the top level of a test file. It works with every test runner that has `describe` and `it`;
 * the default is node:test, and the option `runner` selects another.
 *
 * @example
 * testStorageAdapter('MyStorage', {
 *   createLocation: async (t) => {
 *     const folder = await mkdtemp(join(tmpdir(), 'my-storage-'));
 *     t.after(() => rm(folder, { recursive: true }));
 *     return { open: () => new MyStorage(folder) };
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
    'a commit that fails': testFault,
    list: testList,
    scan: testScan,
    'what is stored': testFidelity,
    'under a PlantStore': testUnderPlantStore,
    'listJson, if there is one': testListJson,
    'dataVersion, if there is one': testDataVersion,
    close: testClose,
    'a second adapter on the same location': testSecondAdapter,
  };
  suite.describe(`${name} as a StorageAdapter`, () => {
    for (const [title, register] of Object.entries(sections)) {
      suite.describe(title, () => {
        register(suite);
      });
    }
  });
}
