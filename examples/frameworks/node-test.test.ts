import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { MemoryStorage, PlantStore } from 'plant-store';
import { createFetchHandler } from 'plant-store/fetch';

/** Creates a handler with a store for one test. */
function createPlants(t: TestContext): (request: Request) => Promise<Response> {
  const store = new PlantStore({ storage: new MemoryStorage() });
  t.after(() => store.close());
  return createFetchHandler(store, { authenticate: (token) => ({ user: token }) });
}

const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };

it('stores a fern', async (t) => {
  const plants = createPlants(t);
  const body = '{"id":1,"name":"Fern"}';
  await plants(new Request('http://test/plants', { method: 'POST', headers, body }));
  const list = await plants(new Request('http://test/plants', { headers }));
  assert.deepEqual(await list.json(), [{ name: 'Fern' }]);
});

it('starts without plants', async (t) => {
  const list = await createPlants(t)(new Request('http://test/plants', { headers }));
  assert.deepEqual(await list.json(), []);
});
