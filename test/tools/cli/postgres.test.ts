import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { UsageError } from '../../../src/tools/cli/command.ts';
import type { Setting } from '../../../src/tools/cli/command.ts';
import { openStorage } from '../../../src/tools/cli/storage.ts';
import { PlantStore } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { create, everything } from '../../support/writes.ts';

let cluster: PostgresCluster;

before(async () => {
  cluster = await PostgresCluster.start();
});

after(() => cluster.remove());

const flag = (text: string): Setting => ({ text, source: '--storage' });

async function connections(database: string): Promise<number> {
  return (await cluster.query('SELECT FROM pg_stat_activity WHERE datname = $1', [database])).length;
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

describe('openStorage, with a connection string', () => {
  it('stores plants in PostgreSQL, and closes its connections with the storage', async () => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(flag(url.replace('postgres:', 'postgresql:')));
    assert.equal(await connections(nameOf(url)), 0, 'It does not connect before it is used.');
    assert.deepEqual(await storage.commit([create(1n, 'ada', 'Fern')]), [true]);
    assert.equal(await connections(nameOf(url)), 1);
    await storage.close();
    await storage.close();
    await eventually(async () => {
      assert.equal(await connections(nameOf(url)), 0);
    });
  });

  it('survives a connection that is lost while its limits are set', async (t) => {
    const url = new URL(await cluster.makeDatabase());
    const proxy = await startTcpProxy(t, Number(url.port));
    url.port = String(proxy.port);
    const storage = await openStorage(flag(url.href));
    t.after(() => storage.close());
    proxy.cutAt('client_connection_check_interval');
    await assert.rejects(storage.list('ada', everything), /Connection terminated/);
  });

  it('opens at most max connections', async (t) => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(flag(`${url}?max=2`));
    t.after(() => storage.close());
    await Promise.all(Array.from({ length: 20 }, () => storage.list('ada', everything)));
    assert.equal(await connections(nameOf(url)), 2);
  });

  it('uses the schema and the table of the connection string, and does not pass them to pg', async (t) => {
    const url = await cluster.makeDatabase();
    await cluster.queryAt(url, 'CREATE SCHEMA "my garden"');
    const storage = await openStorage(flag(`${url}?schema=my%20garden&application_name=beds&table=the+plants`));
    t.after(() => storage.close());
    assert.deepEqual(await storage.commit([create(1n, 'ada', 'Fern')]), [true]);
    assert.deepEqual(await cluster.queryAt(url, 'SELECT name FROM "my garden"."the plants"'), [{ name: 'Fern' }]);
    const named = await cluster.query("SELECT FROM pg_stat_activity WHERE application_name = 'beds'");
    assert.equal(named.length, 1);
  });

  it('accepts each parameter that pg supports', async (t) => {
    const url = await cluster.makeDatabase();
    const server = new URL(url);
    const settings = {
      user: 'postgres',
      password: 'sesame',
      host: server.hostname,
      port: server.port,
      ssl: '0',
      sslmode: 'disable',
      uselibpqcompat: 'true',
      sslnegotiation: 'postgres',
      application_name: 'all',
      fallback_application_name: 'none',
      options: '-c work_mem=1MB',
      statement_timeout: '1000',
      lock_timeout: '2000',
      query_timeout: '3000',
      idle_in_transaction_session_timeout: '4000',
      channel_binding: 'prefer',
    };
    const storage = await openStorage(flag(`postgres:///${nameOf(url)}?${new URLSearchParams(settings).toString()}`));
    t.after(() => storage.close());
    assert.deepEqual(await storage.list('ada', everything), { plants: [], hasMore: false });
  });

  it('rejects with storage_unavailable after query_timeout milliseconds', async (t) => {
    const url = await cluster.makeDatabase();
    const store = new PlantStore({ storage: await openStorage(flag(`${url}?query_timeout=200`)) });
    t.after(() => store.close());
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    const busy = new Client({ connectionString: url });
    await busy.connect();
    t.after(() => busy.end());
    await busy.query('BEGIN; LOCK TABLE plants');
    await assert.rejects(store.createPlant('ada', { id: 2, name: 'Fern' }), { code: 'storage_unavailable' });
    await assert.rejects(store.listPlants('ada'), { code: 'storage_unavailable' });
  });

  it('survives the loss of idle connections', async (t) => {
    const url = await cluster.makeDatabase();
    const storage = await openStorage(flag(url));
    t.after(() => storage.close());
    await storage.list('ada', everything);
    await cluster.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [nameOf(url)]);
    await eventually(async () => {
      assert.deepEqual(await storage.list('ada', everything), { plants: [], hasMore: false });
    });
  });

  for (const [rest, problem] of [
    ['localhost:port/plants', /^Invalid URL\.$/],
    ['localhost/plants?sslrootcert=none.pem', /none\.pem/],
  ] as const) {
    it(`rejects ${rest} in one sentence without the password`, async () => {
      await assert.rejects(openStorage(flag(`postgres://ada:sesame@${rest}`)), (error) => {
        assert.ok(error instanceof UsageError);
        const [, reason = ''] =
          /^--storage is not a connection string that pg accepts: (.*)$/.exec(error.message) ?? [];
        assert.match(reason, problem);
        return !error.message.includes('sesame');
      });
    });
  }
});
