import assert from 'node:assert/strict';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { root } from '../support/sources.ts';
import { installPackage, linkTypes } from './installed.ts';
import { run } from './pack.ts';

/** Serves a wrapped store and a store of a second copy of the package, and stores the same plant twice in each. */
const program = `
import { isPlantStoreError, MemoryStorage, PlantStore, PlantStoreError } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import type { ServiceStore } from 'plant-store/fetch';
import { createRequestListener } from 'plant-store/http';
import * as copy from 'plant-store-copy';

class CountingStore implements ServiceStore {
  created = 0;
  readonly #store: PlantStore;
  constructor(store: PlantStore) {
    this.#store = store;
  }
  async createPlant(...args: Parameters<PlantStore['createPlant']>) {
    const plant = await this.#store.createPlant(...args);
    this.created++;
    return plant;
  }
  listPageJson(...args: Parameters<PlantStore['listPageJson']>) {
    return this.#store.listPageJson(...args);
  }
  deletePlant(...args: Parameters<PlantStore['deletePlant']>) {
    return this.#store.deletePlant(...args);
  }
}

const counting = new CountingStore(new PlantStore({ storage: new MemoryStorage() }));
const other = new copy.PlantStore({ storage: new MemoryStorage() });
const authenticate = (user: string) => ({ user });
const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
for (const store of [counting, other]) {
  createRequestListener(store, { authenticate });
  const plants = createFetchHandler(store, { authenticate });
  for (const method of ['POST', 'POST', 'GET', 'DELETE']) {
    const body = method === 'POST' ? '{"id":1,"name":"Fern"}' : null;
    const path = method === 'DELETE' ? '/plants/1' : '/plants';
    const response = await plants(new Request('http://localhost' + path, { method, headers, body }));
    console.log(method, response.status);
  }
}
console.log(counting.created);

const error: unknown = await other.createPlant('ada', { id: 0.5, name: '' }).catch((thrown: unknown) => thrown);
if (isPlantStoreError(error)) console.log(error.code, error.status, error instanceof PlantStoreError);
`;

it('the service accepts a wrapped store and a store of a second copy of the package', async (t) => {
  const folder = await installPackage(t);
  await linkTypes(folder);
  await cp(join(folder, 'node_modules/plant-store'), join(folder, 'node_modules/plant-store-copy'), {
    recursive: true,
  });
  await writeFile(join(folder, 'program.ts'), program);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false'];
  await run(folder, process.execPath, [tsc, ...strict, '--module', 'nodenext', '--target', 'es2022', 'program.ts']);
  const served = 'POST 200\nPOST 400\nGET 200\nDELETE 204\n';
  assert.equal(await run(folder, process.execPath, ['program.js']), `${served}${served}1\ninvalid_plant 400 false\n`);
});
