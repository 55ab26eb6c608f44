import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openStorage } from '../../../src/tools/cli/storage.ts';
import { PlantStore } from '../../../src/index.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/pg-bouncer.ts';
import { PostgresCluster } from '../../support/postgres.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

const max = 4;

/** Opens a store as `serve` does, with a plant. */
async function openStore(t: TestContext, url: string, parameters: string): Promise<PlantStore> {
  const text = `${url}?application_name=garden&max=${max}&${parameters}`;
  const store = new PlantStore({ storage: await openStorage({ text, source: '--storage' }) });
  t.after(() => store.close());
  await store.createPlant('ada', { id: 1, name: 'Fern' });
  return store;
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
    const busy = new Client({ connectionString: url });
    await busy.connect();
    t.after(() => busy.end());
    await busy.query('BEGIN; LOCK TABLE plants');
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
    const busy = new Client({ connectionString: url });
    await busy.connect();
    t.after(() => busy.end());
    await busy.query('BEGIN; LOCK TABLE plants');
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
