import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { isWrongSetting } from '../../../src/cli/errors.ts';
import { openStorage, parseStorage } from '../../../src/cli/storage.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { create, firstPage } from '../../../src/testing/plants.ts';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import { freePort } from '../../support/listen.ts';
import { PostgresCluster, spawnAsOwner } from '../../support/postgres.ts';
import { untilListening } from '../../support/server-process.ts';
import { ownedFolder } from '../../support/temporary-folder.ts';

const program = '/usr/sbin/pgbouncer';

if (existsSync(program)) {
  const cluster = await PostgresCluster.start({ after });
  const folder = await ownedFolder();
  after(() => rm(folder, { recursive: true, force: true }));
  const [port, file, users] = [await freePort(), join(folder, 'pgbouncer.ini'), join(folder, 'users')];
  const settings = `[databases]
postgres = host=127.0.0.1 port=${cluster.port}
lost = host=127.0.0.1 port=${cluster.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = md5
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
`;
  await writeFile(file, settings);
  await writeFile(users, '"postgres" "sesame"');
  for (const each of [file, users]) await chmod(each, 0o644);
  await untilListening({ after }, spawnAsOwner(program, [file]), /listening on 127\.0\.0\.1:(\d+)/);
  const through = (url: string) => url.replace(`:${cluster.port}`, `:${port}`);

  testStorageAdapter('PostgresStorage through PgBouncer', {
    createLocation: (t) => {
      const config = { connectionString: through(cluster.url()), max: 4 };
      const table = cluster.newTable();
      const open = (): PostgresStorage => new PostgresStorage({ pool: cluster.pool(t, config), table });
      return { open, reopen: open };
    },
    shared: true,
  });

  // PgBouncer resets a connection only in session mode.
  it('PostgresStorage through PgBouncer uses one table, even if other clients change the session', async (t) => {
    const pool = cluster.pool(t, { connectionString: through(cluster.url()), max: 5 });
    const storage = new PostgresStorage({ pool });
    await storage.commit([]);
    await cluster.query('CREATE SCHEMA garden; CREATE TABLE garden.plants (LIKE plants INCLUDING ALL)');
    const left = ['CREATE TEMPORARY TABLE plants (LIKE public.plants INCLUDING ALL)', 'SET search_path = garden'];
    // While one transaction waits, PgBouncer uses another connection for the next one.
    await Promise.all(left.map((sql) => pool.query(`BEGIN; SELECT pg_sleep(0.1); ${sql}; COMMIT`)));
    const ids = Array.from({ length: 200 }, (_, id) => id);
    await Promise.all(ids.map((id) => storage.commit([create(id)])));
    assert.deepEqual(await cluster.query('SELECT count(*)::integer FROM public.plants'), [{ count: 200 }]);
    assert.equal((await storage.list('ada', firstPage)).plants.length, 200);
  });

  it('isWrongSetting › recognizes a missing database and an unsupported parameter through PgBouncer', async () => {
    const url = through(cluster.url());
    for (const value of [through(cluster.url('lost')), `${url}x`, `${url}?options=-c%20jit%3Doff`]) {
      const storage = openStorage(parseStorage({ value, source: '--storage' }, ['postgres']), false);
      const [outcome] = await Promise.allSettled([storage.list('ada', firstPage)]);
      await storage.close();
      assert.ok(outcome.status === 'rejected' && isWrongSetting(outcome.reason), value);
    }
    assert.ok(isWrongSetting(new Error('SSL required')), 'with client_tls_sslmode = require');
  });
} else {
  it('PostgresStorage through PgBouncer passes the suite for storage adapters', { skip: 'pgbouncer is not installed' });
}
