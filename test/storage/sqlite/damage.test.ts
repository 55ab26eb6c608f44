import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { damageFile } from '../../support/sqlite-file.ts';
import { createAll, rowOfPlants, scanAll } from '../../support/stored-plants.ts';
import { create, firstPage, remove } from '../../support/writes.ts';
import { newPath, openSqlite } from './sqlite-state.ts';

const damaged = {
  name: 'PlantStoreError',
  code: 'storage_unsupported',
  message: 'The database file is damaged or cannot be read.',
};

/** Calls that read damaged pages. */
const calls: Record<string, (storage: SqliteStorage) => Promise<unknown>> = {
  list: (storage) => storage.list('bob', { after: 1000n, limit: 1000 }),
  scan: scanAll,
  commit: (storage) => storage.commit(Array.from({ length: 1000 }, (_, n) => remove(n * 3, 'bob'))),
};

for (const commitThread of [false, true]) {
  for (const [what, call] of Object.entries(calls)) {
    const title = `SqliteStorage${commitThread ? ' with a commit thread' : ''} over a damaged file`;
    it(`${title} refuses every commit after a ${what} has found the damage, and lists what can be read`, async (t) => {
      const path = await newPath(t);
      await createAll(path, [...rowOfPlants('ada', 1), ...rowOfPlants('bob', 3000)]);
      const storage = openSqlite(t, path, { commitThread });
      damageFile(path, 8);
      assert.deepEqual(await storage.commit([create(1, 'eve')]), [true]);
      await assert.rejects(call(storage), damaged);
      await assert.rejects(storage.commit([create(2, 'eve')]), damaged);
      assert.equal((await storage.list('ada', firstPage)).plants.length, 1);
    });
  }
}
