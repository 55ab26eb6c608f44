import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { PlantStore } from '../../../src/index.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { holdDatabase } from '../../helpers/hold-database.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const texts = ['Fern', '', '"', '\\', '\\"', '\\n', 'a\nb', '\t\u0001\u001f\u007f', '\u{1F33F}"', 'null', '\u2028'];

/** A file as version 1 of the schema had it: texts as they are. */
function makeVersion1(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE plants (user TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (user, id))
      STRICT, WITHOUT ROWID;
    PRAGMA application_id = 1347178068;
    PRAGMA user_version = 1`);
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?, ?)');
  for (const [n, text] of texts.entries()) {
    insert.run('ada', n, text, null);
    insert.run('bob', n, 'x', text);
  }
  database.close();
}

describe('A file of schema version 1', () => {
  it('is brought up to date once, and keeps every text', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    makeVersion1(path);
    // The second start finds it as it should be.
    for (let start = 1; start <= 2; start++) {
      await using store = new PlantStore({ storage: new SqliteStorage(path) });
      assert.deepEqual(await store.listPlants('ada'), texts.map((name, n) => ({ id: BigInt(n), name })));
      assert.deepEqual(await store.listPlants('bob'), texts.map((tag, n) => ({ id: BigInt(n), name: 'x', tag })));
      const { json } = await store.plantPageJson('ada');
      assert.deepEqual(JSON.parse(json), texts.map((name) => ({ name })));
    }
  });

  it('is brought up to date as soon as another process lets go of it', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    makeVersion1(path);
    await holdDatabase(t, path, 'BEGIN IMMEDIATE', 300);
    await using store = new PlantStore({ storage: new SqliteStorage(path) });
    assert.equal((await store.listPlants('ada')).length, texts.length);
  });
});
