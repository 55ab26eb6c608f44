import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
// The compiled package is a second copy.
import { MemoryStorage as OtherStorage, PlantStore as OtherStore } from 'plant-store';
import { createFetchHandler } from '../../src/fetch.ts';
import { createPlantServer } from '../../src/http.ts';
import type { ServiceStore } from '../../src/http.ts';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { listenUrl } from '../support/listen.ts';
import { authenticateByName } from '../support/service.ts';

const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
const post = (url: string): Request =>
  new Request(`${url}/plants`, { method: 'POST', headers, body: '{"id":7,"name":"Fern"}' });

describe('the store of a service', () => {
  it('can be an object that wraps a store', async () => {
    await using store = new PlantStore({ storage: new MemoryStorage() });
    const wrapper: ServiceStore = {
      createPlant: (user, plant) => store.createPlant(user, { ...plant, tag: 'new' }),
      listPageJson: (user, options) => store.listPageJson(user, options),
      deletePlant: (user, id) => store.deletePlant(user, id),
    };
    const send = createFetchHandler(wrapper, { authenticate: authenticateByName });
    const response = await send(post('http://x'));
    assert.deepEqual(await response.json(), { name: 'Fern', tag: 'new' });
  });

  it('can be a store of a second copy of the package, whose errors have their own responses', async (t) => {
    await using store = new OtherStore({ storage: new OtherStorage() });
    assert.ok(!(store instanceof PlantStore));
    const server = createPlantServer(store, { authenticate: authenticateByName });
    const url = await listenUrl(t, server);
    assert.equal((await fetch(post(url))).status, 200);
    assert.deepEqual(await (await fetch(post(url))).json(), {
      error: 40003,
      message: 'You already have a plant with this id.',
    });
  });
});
