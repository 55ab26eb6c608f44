import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { damageFile } from '../../support/sqlite-file.ts';
import { createAll, rowOfPlants, scanAll } from '../../support/stored-plants.ts';
import { create, everything, remove } from '../../support/writes.ts';
import { newPath, openSqlite } from './sqlite-state.ts';

const damaged = {
  name: 'PlantStoreError',
  code: 'storage_unsupported',
  message: 'The database file is damaged or cannot be read.',
};

for (const commitThread of [false, true]) {
  describe(`SqliteStorage${commitThread ? ' with a commit thread' : ''} over a damaged file`, () => {
    it('refuses every commit after a list has found the damage, and lists what can be read', async (t) => {
      const path = await newPath(t);
      await createAll(path, [...rowOfPlants('ada', 1), ...rowOfPlants('bob', 3000)]);
      const storage = openSqlite(t, path, { commitThread });
      damageFile(path, 8);
      assert.deepEqual(await storage.commit([create(1, 'eve')]), [true]);
      await assert.rejects(storage.list('bob', { after: 1000n, limit: 1000 }), damaged);
      for (const id of [2, 3]) await assert.rejects(storage.commit([create(id, 'eve')]), damaged);
      assert.equal((await storage.list('ada', everything)).plants.length, 1);
    });

    it('refuses every commit after a commit or a scan has found the damage', async (t) => {
      for (const find of ['commit', 'scan'] as const) {
        const path = await newPath(t);
        await createAll(path, rowOfPlants('bob', 3000));
        const storage = openSqlite(t, path, { commitThread });
        damageFile(path, 8);
        const all = Array.from({ length: 1000 }, (_, n) => remove(n * 3, 'bob'));
        await assert.rejects(find === 'commit' ? storage.commit(all) : scanAll(storage), damaged);
        await assert.rejects(storage.commit([create(1, 'eve')]), damaged);
      }
    });
  });
}
