import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { failure, observed } from '../../support/observed-pool.ts';
import { PostgresCluster, poolOf } from '../../support/postgres.ts';
import { startService } from '../../support/service.ts';
import { create } from '../../support/writes.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

describe('PostgresStorage, with plants that it cannot hold', () => {
  it('rejects one of 64 concurrent creates with 400, and creates the others', async (t) => {
    const schema = cluster.newSchemaName();
    const pool = observed(cluster.pool(t));
    const service = await startService(t, { storage: new PostgresStorage({ pool, schema }) });
    assert.equal((await service.call('GET', '/plants')).status, 200);
    // A cast that fails only for this name: invalid_text_representation, 22P02.
    await cluster.query(
      `ALTER TABLE "${schema}".plants ADD CHECK (CASE WHEN name = 'plant 31' THEN name::int > 0 ELSE true END)`,
    );
    pool.texts.length = 0;
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, id) =>
        service.call('POST', '/plants', { body: JSON.stringify({ id, name: `plant ${id}` }) }),
      ),
    );
    assert.ok(
      pool.texts.length < 64,
      `It took ${pool.texts.length} commits, so the creates were not committed together.`,
    );
    for (const [id, { status, json }] of answers.entries()) {
      if (id !== 31) assert.deepEqual([status, json], [200, { name: `plant ${id}` }]);
      else assert.deepEqual([status, json], [400, { error: 40002, message: 'The storage cannot hold this plant.' }]);
    }
    const expected = Array.from({ length: 64 }, (_, id) => ({ name: `plant ${id}` })).filter((_, id) => id !== 31);
    assert.deepEqual((await service.call('GET', '/plants')).json, expected);
    assert.deepEqual(service.faults, []);
  });

  for (const state of ['22021', '22P05', '23502', '23514', '54000']) {
    it(`rejects a batch that failed with ${state} with invalid_plant and the cause`, async (t) => {
      const cause = failure(state);
      const pool = observed(cluster.pool(t), (text) => (text.startsWith('INSERT') ? cause : undefined));
      const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
      const commit = storage.commit([create(1n, 'ada', 'Fern')]);
      await assert.rejects(
        commit,
        (error) => error instanceof PlantStoreError && error.code === 'invalid_plant' && error.cause === cause,
      );
    });
  }

  for (const state of ['53100', '2200', '54']) {
    it(`rejects a batch that failed with ${state} with that error`, async (t) => {
      const cause = failure(state);
      const pool = observed(cluster.pool(t), (text) => (text.startsWith('INSERT') ? cause : undefined));
      const storage = new PostgresStorage({ pool, schema: cluster.newSchemaName() });
      await assert.rejects(storage.commit([create(1n, 'ada', 'Fern')]), (error) => error === cause);
    });
  }

  for (const createTable of [true, false]) {
    it(`rejects a database whose encoding is not UTF8, with createTable ${createTable}, and creates no table`, async (t) => {
      const name = `latin1_${createTable}`;
      await cluster.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
      const pool = poolOf(t, { connectionString: cluster.url(name) });
      const storage = new PostgresStorage({ pool, createTable });
      const refused = (error: unknown): boolean => {
        assert.ok(error instanceof PlantStoreError);
        assert.equal(error.code, 'storage_unsupported');
        assert.equal(error.message, 'The storage is a database that cannot hold every Unicode text.');
        assert.equal((error.cause as Error).message, 'Its server_encoding is LATIN1, not UTF8.');
        return true;
      };
      await assert.rejects(storage.commit([create(1n, 'ada', 'Fern')]), refused);
      await assert.rejects(storage.list('ada', { after: undefined, limit: 1 }), refused);
      assert.deepEqual((await pool.query("SELECT FROM pg_tables WHERE tablename = 'plants'")).rows, []);
    });
  }
});
