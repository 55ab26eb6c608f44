import assert from 'node:assert/strict';
import { MemoryStorage, PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';
import { it, onTestFinished } from 'vitest';

/** Creates a handler with a store for one test. */
function createPlants(): (request: Request) => Promise<Response> {
  const store = new PlantStore({ storage: new MemoryStorage() });
  onTestFinished(() => store.close());
  return createFetchHandler(store, { authenticate: (token) => ({ user: token }) });
}

const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };

it('stores a fern', async () => {
  const plants = createPlants();
  const body = '{"id":1,"name":"Fern"}';
  await plants(new Request('http://test/plants', { method: 'POST', headers, body }));
  const list = await plants(new Request('http://test/plants', { headers }));
  assert.deepEqual(await list.json(), [{ name: 'Fern' }]);
});

it('starts without plants', async () => {
  const list = await createPlants()(new Request('http://test/plants', { headers }));
  assert.deepEqual(await list.json(), []);
});
