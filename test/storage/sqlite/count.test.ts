import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { countPlants } from '../../../src/storage/sqlite/count.ts';
import { createAll, hostilePlants } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('countPlants', () => {
  it('returns the number of plants of all users', async (t) => {
    const file = join(await temporaryFolder(t), 'plants.db');
    await createAll(file, []);
    assert.equal(countPlants(file), 0);
    await createAll(file, hostilePlants);
    assert.equal(countPlants(file), hostilePlants.length);
  });
});
