import assert from 'node:assert/strict';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inTransaction, openDatabase } from '../../../src/storage/sqlite/database.ts';
import { holdDatabase } from '../../support/hold-database.ts';
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

  it('recovers a file whose newest pages are only in the WAL, as after a crash', async (t) => {
    const folder = await temporaryFolder(t);
    const [path, crashed] = [join(folder, 'plants.db'), join(folder, 'crashed.db')];
    using database = openDatabase(path, 5000).database;
    const insert = database.prepare("INSERT INTO plants VALUES ('ada', ?, 'Fern', NULL)");
    inTransaction(database, () => {
      for (let id = 0; id < 2000; id++) insert.run(id);
    });
    for (const ending of ['', '-wal']) await copyFile(path + ending, crashed + ending);
    using recovered = openDatabase(crashed, 5000).database;
    assert.equal(recovered.prepare('SELECT id FROM plants').all().length, 2000);
    // During the recovery the timeout is shorter.
    assert.deepEqual({ ...recovered.prepare('PRAGMA busy_timeout').get() }, { timeout: 5000 });
  });

  it('lets a commit wait until another process releases the file', async (t) => {
    const path = join(await temporaryFolder(t), 'plants.db');
    using database = openDatabase(path, 5000).database;
    await holdDatabase(t, path, 'BEGIN IMMEDIATE', 150);
    inTransaction(database, () => {
      database.exec("INSERT INTO plants VALUES ('ada', 1, 'Fern', NULL)");
    });
    assert.equal(database.prepare('SELECT name FROM plants').all().length, 1);
  });
});
