import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createAll, hostilePlants, readAll } from '../../support/stored-plants.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('the columns of an SQLite file', () => {
  it('contain plain text', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    await createAll(path, hostilePlants);
    using database = new DatabaseSync(path, { readOnly: true });
    const rows = database.prepare('SELECT user, name, tag FROM plants ORDER BY user, id').all();
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      hostilePlants.map(({ user, plant: { name, tag = null } }) => ({ user, name, tag })),
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
    const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?, ?)');
    const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
    for (const { user, plant } of hostilePlants) {
      insert.run(user, plant.id, escaped(plant.name), plant.tag === undefined ? null : escaped(plant.tag));
    }
    database.close();
    assert.deepEqual(await readAll(path), hostilePlants);
  });
});
