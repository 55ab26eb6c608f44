import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { hasResultCode, openDatabase } from '../../../src/storage/sqlite/database.ts';
import { Reader, SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { describeNeededNode } from '../../../src/storage/sqlite/version.ts';
import { create, firstPage, plantOf, remove } from '../../../src/testing/plants.ts';
import type { StorageLocation } from '../../../src/testing/place.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { expectFullPages } from '../../support/page-size.ts';
import { startService } from '../../support/service.ts';
import { damageFile, execute } from '../../support/sqlite-file.ts';
import { createAll } from '../../support/stored-plants.ts';
import { countFailures } from '../../support/two-servers.ts';
import { newPath, openSqlite } from './sqlite-state.ts';

/** The size of a page in the WAL, with its header. */
const walPageBytes = 4096 + 24;

/** Long, because other processes can slow down a commit. */
const busyTimeoutMs = 60_000;

for (const [name, commitThread] of [
  ['SqliteStorage', false],
  ['SqliteStorage with a commit thread', true],
] as const) {
  testStorageAdapter<StorageLocation & { path: string }>(name, {
    createLocation: async (t) => {
      const path = await newPath(t);
      const open = (): SqliteStorage => new SqliteStorage(path, { commitThread, busyTimeoutMs });
      return { path, open, reopen: open };
    },
    shared: true,
    makeWriteFail: ({ path }, { kind, user, id }) => {
      const [event, row] = kind === 'create' ? ['INSERT', 'NEW'] : ['DELETE', 'OLD'];
      const condition = `${row}.user = '${user}' AND ${row}.id = ${id}`;
      const failure = "SELECT RAISE(ABORT, 'a deliberate fault')";
      execute(path, `CREATE TRIGGER fault BEFORE ${event} ON plants WHEN ${condition} BEGIN ${failure}; END`);
    },
    damagePlant: ({ path }) => {
      execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
      damageFile(path, 1);
    },
    // One variant is enough, because the test that starts processes takes most of the time.
    ...(!commitThread && {
      startProcess: ({ path }) => fork(new URL('committing-process.ts', import.meta.url), [path]),
    }),
  });
}

it('two servers over one SQLite file, each with a commit thread, are linearizable', async (t) => {
  const path = await newPath(t);
  const storages = [1, 2].map(() => new SqliteStorage(path, { commitThread: true, busyTimeoutMs }));
  const services = await Promise.all(storages.map((storage) => startService(t, { storage })));
  assert.equal(await countFailures(services), 0);
});

it('dataVersion of a SqliteStorage does not change when the storage itself commits', async (t) => {
  const storage = openSqlite(t, await newPath(t));
  const version = storage.dataVersion();
  await storage.commit([create(1)]);
  await storage.commit([remove(1)]);
  assert.equal(storage.dataVersion(), version);
  await storage.close();
  assert.throws(() => storage.dataVersion(), { code: 'closed' });
});

it('pages of a SqliteStorage end at 256 KiB of JSON', async (t) => {
  await expectFullPages(openSqlite(t, await newPath(t)));
});

it('list and scan of a SqliteStorage read at most 32 plants more than a page contains', async (t) => {
  const path = await newPath(t);
  const long = 'x'.repeat(64_000);
  const plants = Array.from({ length: 232 }, (_, n) => plantOf('ada', n, n < 32 ? '' : long));
  await createAll(path, plants);
  using database = openDatabase(path, 5000);
  let read = 0;
  database.function('count_read', (name) => {
    read++;
    return name;
  });
  database.exec('CREATE TEMP VIEW plants AS SELECT user, id, count_read(name) AS name, tag FROM main.plants');
  const reader = new Reader(database);
  assert.equal(reader.list('ada', firstPage).plants.length, 36);
  assert.ok(read <= 36 + 32, `${read} plants`);
  read = 0;
  for await (const page of reader.scan()) {
    assert.equal(page.length, 36);
    break;
  }
  assert.ok(read <= 36 + 32, `${read} plants`);
});

it('WAL of a SqliteStorage has at most 4200 pages, or 64 MiB after a slow reader', async (t) => {
  const path = await newPath(t);
  const storage = openSqlite(t, path);
  let id = 0;
  /** Creates plants of one page each, in batches. Returns the size of the WAL. */
  const fill = async (batches: number, batchLength: number): Promise<number> => {
    for (let batch = 0; batch < batches; batch++) {
      await storage.commit(Array.from({ length: batchLength }, () => create(id++, 'ada', 'x'.repeat(3000))));
    }
    return (await stat(`${path}-wal`)).size;
  };
  const small = (await fill(150, 10)) / walPageBytes;
  assert.ok(small > 900 && small < 1200, `${small} pages`);
  const large = (await fill(60, 100)) / walPageBytes;
  assert.ok(large > 3900 && large < 4200, `${large} pages`);

  using reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT count(*) FROM plants');
  assert.ok((await fill(24, 1000)) > 70 * 1_048_576);
  reader.exec('COMMIT');
  assert.ok((await fill(2, 1)) <= 64 * 1_048_576);
});

it('SqliteStorage needs a newer Node.js if its SQLite can corrupt a WAL, or has an unknown version', () => {
  const affected = [undefined, '3.7.0', '3.44.5', '3.45.0', '3.49.1', '3.50.6', '3.51.0', '3.51.2', 'unknown'];
  const fixed = ['3.44.6', '3.44.10', '3.50.7', '3.51.3', '3.51.10', '3.52.0', '3.53.4', '3.100.0', '4.0.0'];
  assert.deepEqual([...affected, ...fixed].filter(describeNeededNode), affected);
});

it('hasResultCode recognizes the primary code in an extended code', () => {
  assert.equal(hasResultCode({ errcode: 261 }, 'busy'), true);
  for (const error of [{ errcode: 11 }, new Error('no code'), undefined, null]) {
    assert.equal(hasResultCode(error, 'busy'), false);
  }
});
