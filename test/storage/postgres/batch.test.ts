import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import type { Pool } from 'pg';
import { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import type { PostgresClient } from '../../../src/storage/postgres/pool.ts';
import { testStorageAdapter } from '../../../src/kits/adapter-suite/test-storage-adapter.ts';
import { failure, observed } from '../../support/observed-pool.ts';
import type { ObservedPool } from '../../support/observed-pool.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create, everything, remove } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

/** A pool of a database that rejects a statement that modifies a table twice, as CockroachDB does. */
function withoutModifyingCte(pool: Pool, beforeStatement: (text: string) => Promise<void> = async () => undefined) {
  const rejecting = observed(pool, (text) => (text.startsWith('WITH') ? failure('0A000') : undefined));
  const clientTexts: string[] = [];
  const connect = async (): Promise<PostgresClient> => {
    const client = await pool.connect();
    return {
      query: async (text, values) => {
        clientTexts.push(text);
        await beforeStatement(text);
        return client.query(text, values);
      },
      release: (destroy) => {
        client.release(destroy);
      },
    };
  };
  return { ...rejecting, connect, clientTexts } satisfies ObservedPool & { clientTexts: string[] };
}

async function idsIn(storage: PostgresStorage): Promise<bigint[]> {
  return (await storage.list('ada', everything)).plants.map(({ id }) => id);
}

async function openWithPlant(
  t: TestContext,
  beforeStatement?: (text: string) => Promise<void>,
): Promise<{ pool: ReturnType<typeof withoutModifyingCte>; storage: PostgresStorage; schema: string }> {
  const schema = cluster.newSchemaName();
  const pool = withoutModifyingCte(cluster.pool(t, { max: 2 }), beforeStatement);
  const storage = new PostgresStorage({ pool, schema });
  await storage.commit([create(1n)]);
  return { pool, storage, schema };
}

testStorageAdapter('PostgresStorage over a database that rejects data-modifying CTEs', {
  createLocation: (t) => {
    const schema = cluster.newSchemaName();
    const open = (): PostgresStorage =>
      new PostgresStorage({ pool: withoutModifyingCte(cluster.pool(t, { max: 4 })), schema });
    return { open, reopen: open };
  },
  persistent: true,
});

describe('PostgresStorage over a database that rejects data-modifying CTEs', () => {
  it('commits creates and deletes in one transaction, and tries the CTE only once', async (t) => {
    const { pool, storage } = await openWithPlant(t);
    assert.deepEqual(await storage.commit([create(2n), remove(1n)]), [true, true]);
    assert.deepEqual(await storage.commit([create(2n), remove(1n)]), [false, false]);
    assert.deepEqual(await idsIn(storage), [2n]);
    assert.equal(pool.texts.filter((text) => text.startsWith('WITH')).length, 1);
    assert.deepEqual(
      pool.clientTexts.map((text) => text.split(' ', 1)[0]),
      ['BEGIN', 'INSERT', 'DELETE', 'COMMIT', 'BEGIN', 'INSERT', 'DELETE', 'COMMIT'],
    );
  });

  it('writes nothing if the delete fails', async (t) => {
    const { storage, schema } = await openWithPlant(t);
    await cluster.query(`CREATE TABLE "${schema}".pots AS SELECT "user", id FROM "${schema}".plants`);
    await cluster.query(`ALTER TABLE "${schema}".pots ADD FOREIGN KEY ("user", id) REFERENCES "${schema}".plants`);
    await assert.rejects(storage.commit([create(2n), remove(1n)]), { code: '23503' });
    assert.deepEqual(await idsIn(storage), [1n]);
    assert.deepEqual(await storage.commit([create(3n), remove(2n)]), [true, false]);
  });

  it('rejects the batch if COMMIT rolls back', async (t) => {
    const { storage, schema } = await openWithPlant(t);
    // A deferred constraint fails at COMMIT, not at the statement.
    await cluster.query(`CREATE TABLE "${schema}".pots AS SELECT "user", id FROM "${schema}".plants`);
    await cluster.query(
      `ALTER TABLE "${schema}".pots ADD FOREIGN KEY ("user", id) REFERENCES "${schema}".plants DEFERRABLE INITIALLY DEFERRED`,
    );
    await assert.rejects(storage.commit([create(2n), remove(1n)]), { code: '23503' });
    assert.deepEqual(await idsIn(storage), [1n]);
  });

  it('rejects the batch if the transaction failed unnoticed before COMMIT', async (t) => {
    const pool = withoutModifyingCte(cluster.pool(t));
    const connect = async (): Promise<PostgresClient> => {
      const client = await pool.connect();
      const query: PostgresClient['query'] = async (text, values) => {
        // PostgreSQL responds to the COMMIT of a failed transaction with ROLLBACK, and not with an error.
        if (text === 'COMMIT') await client.query('SELECT 1 / 0').catch(() => undefined);
        return client.query(text, values);
      };
      return { ...client, query };
    };
    const storage = new PostgresStorage({ pool: { ...pool, connect }, schema: cluster.newSchemaName() });
    await assert.rejects(storage.commit([create(1n), remove(2n)]), /ended with ROLLBACK/);
    assert.deepEqual(await idsIn(storage), []);
  });

  it('retries a transaction that the database rolled back', async (t) => {
    let failures = 2;
    const { pool, storage } = await openWithPlant(t, async (text) => {
      if (text === 'COMMIT' && failures-- > 0) throw failure('40001');
    });
    assert.deepEqual(await storage.commit([create(2n), remove(1n)]), [true, true]);
    assert.equal(pool.clientTexts.filter((text) => text === 'COMMIT').length, 3);
    assert.deepEqual(await idsIn(storage), [2n]);
  });

  it('never retries a transaction after its connection was lost, and gives the connection up', async (t) => {
    const inner = cluster.pool(t, { max: 1 });
    const pool = withoutModifyingCte(inner, async (text) => {
      if (text === 'COMMIT') throw failure('08006');
    });
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    await assert.rejects(storage.commit([create(1n), remove(2n)]), { code: '08006' });
    assert.equal(pool.clientTexts.filter((text) => text === 'COMMIT').length, 1);
    assert.deepEqual(await idsIn(storage), []);
  });

  it('rejects the batch with invalid_plant if the database cannot hold a plant', async (t) => {
    const { storage, schema } = await openWithPlant(t);
    await cluster.query(
      `ALTER TABLE "${schema}".plants ADD CHECK (CASE WHEN name = 'x' THEN name::int > 0 ELSE true END)`,
    );
    await assert.rejects(storage.commit([create(2n, 'ada', 'x'), remove(1n)]), { code: 'invalid_plant' });
    assert.deepEqual(await idsIn(storage), [1n]);
  });

  it('rejects the batch with storage_unsupported if the pool has no connect', async (t) => {
    const pool = observed(cluster.pool(t), (text) => (text.startsWith('WITH') ? failure('0A000') : undefined));
    const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
    await assert.rejects(
      storage.commit([create(1n), remove(2n)]),
      (error) => error instanceof PlantStoreError && error.code === 'storage_unsupported',
    );
  });
});
