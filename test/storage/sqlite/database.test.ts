import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openDatabase } from '../../../src/storage/sqlite/database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('openDatabase', () => {
  it('syncs every commit to the disk', async (t) => {
    using database = openDatabase(join(await temporaryFolder(t), 'plants.db'), 5000).database;
    const full = 2;
    const settings = ['synchronous', 'fullfsync', 'checkpoint_fullfsync'];
    assert.deepEqual(Object.assign({}, ...settings.map((name) => database.prepare(`PRAGMA ${name}`).get())), {
      synchronous: full,
      fullfsync: 1,
      checkpoint_fullfsync: 1,
    });
  });
});
