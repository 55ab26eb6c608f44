import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MapStorage } from '../../../examples/own-adapter.ts';
import { copyPlants, MemoryStorage } from '../../../src/index.ts';
import { hostilePlants } from '../../support/stored-plants.ts';
import { createEach } from '../../support/writes.ts';

describe('copyPlants, with a third-party adapter', () => {
  it('copies all plants to the adapter and from it', async () => {
    const [source, own, target] = [new MemoryStorage(), new MapStorage(), new MemoryStorage()];
    await source.commit(createEach(hostilePlants));
    const counts = { added: hostilePlants.length, present: 0, conflicts: 0 };
    assert.deepEqual(await copyPlants(source, own), counts);
    assert.deepEqual(await copyPlants(own, target), counts);
    const range = { after: undefined, limit: 1000 };
    assert.deepEqual(await target.scan(range), await source.scan(range));
    assert.deepEqual(await copyPlants(own, target), { added: 0, present: hostilePlants.length, conflicts: 0 });
  });
});
