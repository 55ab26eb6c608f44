import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { expectFullPages } from '../../support/page-size.ts';
import { execute } from '../../support/sqlite-file.ts';
import { countFailures, startTwoServers } from '../../support/two-servers.ts';
import { create, remove } from '../../support/writes.ts';
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
