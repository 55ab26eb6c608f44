import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { it } from 'node:test';
import { openDatabase } from '../../../src/storage/sqlite/database.ts';
import { Reader } from '../../../src/storage/sqlite/reader.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { expectFullPages } from '../../support/page-size.ts';
import { execute } from '../../support/sqlite-file.ts';
import { createAll, rowOfPlants } from '../../support/stored-plants.ts';
import { countFailures, startTwoServers } from '../../support/two-servers.ts';
import { create, firstPage, remove } from '../../support/writes.ts';
import { newPath, openSqlite } from './sqlite-state.ts';

/** Long, because other processes can slow down a commit. */
const busyTimeoutMs = 60_000;

for (const commitThread of [false, true]) {
  const name = `SqliteStorage${commitThread ? ' with a commit thread' : ''}`;
  testStorageAdapter(name, {
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
    startProcess: ({ path }) => fork(new URL('committing-process.ts', import.meta.url), [path, String(commitThread)]),
  });
}

it('two servers over one SQLite file, each with a commit thread, are linearizable', async (t) => {
  const path = await newPath(t);
  const services = await startTwoServers(t, () => new SqliteStorage(path, { commitThread: true, busyTimeoutMs }));
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

it('list and scan of a SqliteStorage read at most 32 plants more than a page, even if short names are first', async (t) => {
  const path = await newPath(t);
  await createAll(path, [...rowOfPlants('ada', 32), ...rowOfPlants('bob', 200, 'x'.repeat(64_000))]);
  execute(path, "UPDATE plants SET user = 'ada', id = id + 32 WHERE user = 'bob'");
  const database = openDatabase(path, 5000);
  t.after(() => {
    database.close();
  });
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
