import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { plantsJson } from '../../../src/core/model/plant.ts';
import { PlantStore } from '../../../src/core/plant-store.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Names with characters that JSON escapes, and names that look like escaped text. */
const names = [
  'Fern',
  '',
  'a "quoted" name',
  'C:\\plants',
  '\\u0041',
  '\u0001\u001f\b\f\n\r\t',
  '\u2028',
  'Süßkraut',
  '🌵',
];
const plants = names.flatMap((name, n) => [
  { id: BigInt(2 * n), name },
  { id: BigInt(2 * n + 1), name: 'Moss', tag: name },
]);

function openFile(t: TestContext, path: string): PlantStore {
  const store = new PlantStore({ storage: new SqliteStorage(path) });
  t.after(() => store.close());
  return store;
}

describe('the columns of an SQLite file', () => {
  it('contain plain text', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    const store = openFile(t, path);
    await Promise.all(plants.map((plant) => store.createPlant('ada', plant)));
    const database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('SELECT name, tag FROM plants ORDER BY id').all();
    database.close();
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      plants.map(({ name, tag = null }: { name: string; tag?: string | null }) => ({ name, tag })),
    );
  });

  it('are converted to plain text if they contain the escaped text of schema version 1', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    const database = new DatabaseSync(path);
    database.exec(`
      CREATE TABLE plants (user TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (user, id))
        STRICT, WITHOUT ROWID;
      PRAGMA application_id = 0x504c4e54;
      PRAGMA user_version = 1`);
    const insert = database.prepare("INSERT INTO plants VALUES ('ada', ?, ?, ?)");
    const escaped = (text: string | undefined): string | null =>
      text === undefined ? null : JSON.stringify(text).slice(1, -1);
    for (const { id, name, tag } of plants as { id: bigint; name: string; tag?: string }[]) {
      insert.run(id, escaped(name), escaped(tag));
    }
    database.close();
    const store = openFile(t, path);
    assert.deepEqual(await store.listPlants('ada'), plants);
    const { json } = await store.listPage('ada');
    assert.equal(json, plantsJson(plants));
  });
});
