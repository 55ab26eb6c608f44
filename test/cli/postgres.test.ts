import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Client } from 'pg';
import { openStorage, parseStorage } from '../../src/cli/storage.ts';
import type { StorageLocation } from '../../src/cli/storage.ts';
import { callCommand } from '../support/call-command.ts';
import { runCommand } from '../support/command-line.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { PostgresCluster } from '../support/postgres.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { create, everything } from '../support/writes.ts';

const cluster = await PostgresCluster.start({ checksPassword: true });
after(() => cluster.remove());

const locate = (text: string): StorageLocation => parseStorage({ text, source: '--storage' }, ['postgres']);

describe('openStorage, with a connection string', () => {
  it('stores plants in PostgreSQL over at most max connections, which close with the storage', async () => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(locate(`${url.replace('postgres:', 'postgresql:')}?max=2`));
    assert.equal(await cluster.connections(url), 0, 'It does not connect before it is used.');
    assert.deepEqual(await storage.commit([create(1n, 'ada', 'Fern')]), [true]);
    await Promise.all(Array.from({ length: 20 }, () => storage.list('ada', everything)));
    assert.equal(await cluster.connections(url), 2);
    await storage.close();
    await eventuallyEqual(() => cluster.connections(url), 0);
  });

  it('rejects a call if the connection is lost while its limits are being set', async (t) => {
    const url = new URL(await cluster.makeDatabase());
    const proxy = await startTcpProxy(t, Number(url.port));
    url.port = String(proxy.port);
    const storage = await openStorage(locate(url.href));
    t.after(() => storage.close());
    proxy.cutAt('client_connection_check_interval');
    await assert.rejects(storage.list('ada', everything), /Connection terminated/);
  });
});

it('statements that are abandoned after query_timeout › leave no backends behind if they wait for a lock', async (t) => {
  const url = await cluster.makeDatabase();
  const storage = await openStorage(locate(`${url}?application_name=garden&max=2&query_timeout=500`));
  t.after(() => storage.close());
  await storage.commit([create(1)]);
  const busy = new Client({ connectionString: url });
  await busy.connect();
  t.after(() => busy.end());
  await busy.query('BEGIN; LOCK TABLE plants');
  for (let n = 0; n < 6; n++) await assert.rejects(storage.commit([create(2)]), /timeout/);
  const backends = await cluster.query("SELECT FROM pg_stat_activity WHERE application_name = 'garden'");
  // The backend of a closed connection may exist for a moment longer.
  assert.ok(backends.length <= 4, `${backends.length} backends`);
  await busy.query('COMMIT');
  assert.equal((await storage.list('ada', everything)).plants[0]?.id, 1n);
});

describe('PostgreSQL table of a command', () => {
  it('is created only by a command that writes, and no command creates a schema', async (t) => {
    const cwd = await temporaryFolder(t);
    await createAll(join(cwd, 'a.db'), rowOfPlants('ada', 1));
    const url = await cluster.makeDatabase();
    const assertRefused = async (args: string[], keyword: string): Promise<void> => {
      const { code, stderr } = await callCommand(args, { cwd });
      assert.equal(code, 1);
      assert.ok(stderr.includes(keyword), stderr);
    };
    for (const parameters of ['?table=foo', '?schema=public&table=foo', '?schema=garden']) {
      await assertRefused(['export', '--storage', url + parameters], 'no table');
      await assertRefused(['copy', '--from', url + parameters, '--to', 'sqlite:new.db'], 'no table');
    }
    await assertRefused(['copy', '--from', 'sqlite:a.db', '--to', `${url}?schema=garden`], 'schema');
    const created = "SELECT FROM pg_class WHERE relname IN ('foo', 'plants')";
    assert.deepEqual(await cluster.queryAt(url, created), []);
    assert.deepEqual(await cluster.queryAt(url, "SELECT FROM pg_namespace WHERE nspname = 'garden'"), []);
    assert.deepEqual(await readdir(cwd), ['a.db']);
    const args = ['copy', '--from', 'sqlite:a.db', '--to', `${url}?schema=public&table=foo`];
    assert.equal((await callCommand(args, { cwd })).code, 0);
    assert.deepEqual(await cluster.queryAt(url, 'SELECT name FROM public.foo'), [{ name: 'plant number 0' }]);
  });

  it('is not reached without a password, and the command ends at once and names PGPASSWORD', async (t) => {
    const cwd = await temporaryFolder(t);
    const storage = (await cluster.makeDatabase()).replace(':sesame', '');
    const { code, stderr } = await runCommand(['export', '--storage', storage], { cwd });
    assert.equal(code, 1, 'not killed after 20 seconds');
    assert.match(stderr, /PGPASSWORD/);
  });
});
