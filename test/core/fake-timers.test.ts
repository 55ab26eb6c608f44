import assert from 'node:assert/strict';
import { it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';

it('a PlantStore works while the global timers are mocked', async (t) => {
  t.mock.timers.enable();
  const store = new PlantStore({ storage: new MemoryStorage() });
  for (let id = 0; id < 1001; id++) await store.createPlant('ada', { id, name: '' });
  await Promise.all([1, 2].map((id) => store.deletePlant('ada', id)));
  assert.equal((await store.listPlants('ada')).length, 999);
  assert.equal((await Promise.all([1, 2].map((limit) => store.listPageJson('ada', { limit })))).length, 2);
  await store.close();
});
