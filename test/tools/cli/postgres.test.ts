import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { PlantStore } from '../../../src/index.ts';
import { UsageError } from '../../../src/tools/cli/command.ts';
import type { Setting } from '../../../src/tools/cli/command.ts';
import { openStorage } from '../../../src/tools/cli/storage.ts';
import { eventually } from '../../support/eventually.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/pg-bouncer.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { create, everything } from '../../support/writes.ts';

let cluster: PostgresCluster;

before(async () => {
  cluster = await PostgresCluster.start({ checksPassword: true });
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

  it('accepts a percent-encoded password, or the password in PGPASSWORD', async (t) => {
    const url = new URL(await cluster.makeDatabase());
    await cluster.query("CREATE ROLE gardener SUPERUSER LOGIN PASSWORD 'a@b#c/d%e'");
    url.username = 'gardener';
    t.after(() => {
      delete process.env['PGPASSWORD'];
    });
    for (const [password, variable] of [
      ['a%40b%23c%2Fd%25e', 'wrong'],
      ['', 'a@b#c/d%e'],
    ] as const) {
      url.password = password;
      process.env['PGPASSWORD'] = variable;
      const storage = await openStorage(flag(url.href));
      assert.deepEqual((await storage.list('ada', everything)).plants, []);
      await storage.close();
    }
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

const max = 4;

/** Opens a store as `serve` does, with a plant. */
async function openStore(t: TestContext, url: string, parameters: string): Promise<PlantStore> {
  const text = `${url}?application_name=garden&max=${max}&${parameters}`;
  const store = new PlantStore({ storage: await openStorage(flag(text)) });
  t.after(() => store.close());
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  return store;
}

async function lockTable(t: TestContext, url: string): Promise<Client> {
  const busy = new Client({ connectionString: url });
  await busy.connect();
  t.after(() => busy.end());
  await busy.query('BEGIN; LOCK TABLE plants');
  return busy;
}

async function backends(): Promise<number> {
  return (await cluster.query("SELECT FROM pg_stat_activity WHERE application_name = 'garden'")).length;
}

/** Lists and creates plants for some seconds. Returns the largest number of backends, and the errors. */
async function load(store: PlantStore, ms: number): Promise<{ most: number; codes: Set<unknown> }> {
  const codes = new Set<unknown>();
  const end = performance.now() + ms;
  let id = 100;
  const clients = Array.from({ length: 20 }, async (_, n) => {
    while (performance.now() < end) {
      const request =
        n % 4 === 0 ? store.createPlant('ada', { id: ++id, name: 'Moss' }) : store.listPlants(`user ${n}`);
      await request.catch((error: unknown) => codes.add((error as { code?: unknown }).code));
    }
  });
  let most = 0;
  while (performance.now() < end) {
    most = Math.max(most, await backends());
    await sleep(50);
  }
  await Promise.all(clients);
  return { most, codes };
}

describe('statements that are abandoned after query_timeout', () => {
  it('leave no backends behind when they wait for a lock', async (t) => {
    const url = await cluster.makeDatabase();
    const store = await openStore(t, url, 'query_timeout=500');
    const busy = await lockTable(t, url);
    const { most, codes } = await load(store, 5000);
    assert.deepEqual([...codes], ['storage_unavailable']);
    // A closed connection may still have its backend for a moment.
    assert.ok(most <= max + 2, `${most} backends`);
    await busy.query('COMMIT');
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
  });

  it('leave a backend behind for at most a second when they are slow', async (t) => {
    const url = await cluster.makeDatabase();
    const store = await openStore(t, url, 'query_timeout=500');
    await cluster.queryAt(
      url,
      `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_sleep(30); RETURN NEW; END'`,
    );
    await cluster.queryAt(url, 'CREATE TRIGGER slow BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION slow()');
    const { most, codes } = await load(store, 5000);
    assert.deepEqual([...codes], ['storage_unavailable']);
    // Two or three commits time out in 1.5 seconds.
    assert.ok(most <= max + 3, `${most} backends`);
  });

  it('wait for a lock as long as lock_timeout in the connection string', async (t) => {
    const url = await cluster.makeDatabase();
    const store = await openStore(t, url, 'query_timeout=5000&lock_timeout=100');
    await lockTable(t, url);
    const start = performance.now();
    await assert.rejects(store.listPlants('ada'), { code: 'storage_unavailable' });
    assert.ok(performance.now() - start < 2000);
  });

  it('are not limited through a connection pooler, which would apply the limits to its other clients', async (t) => {
    if (!hasPgBouncer) {
      t.skip('pgbouncer is not installed');
      return;
    }
    const pooler = await startPgBouncer(cluster);
    t.after(() => pooler.stop());
    const url = pooler.through(await cluster.makeDatabase());
    const store = await openStore(t, url, 'query_timeout=500');
    await Promise.all(Array.from({ length: 20 }, () => store.listPlants('ada')));
    const names = ['lock_timeout', 'client_connection_check_interval'];
    const settings = await Promise.all(
      names.map((name) => cluster.queryAt(url, 'SELECT current_setting($1) AS value', [name])),
    );
    assert.deepEqual(settings.flat(), [{ value: '0' }, { value: '0' }]);
  });
});
