import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PlantStoreError } from '../../../src/index.ts';
import { PostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts';
import { observed } from '../../support/observed-pool.ts';
import { PostgresCluster } from '../../support/postgres.ts';
import { create, everything, remove } from '../../support/writes.ts';
import { scanAll } from '../../support/stored-plants.ts';

let cluster: PostgresCluster;
before(async () => {
  cluster = await PostgresCluster.start();
});
after(() => cluster.remove());

describe('existing table of a PostgresStorage', () => {
  const key = 'PRIMARY KEY ("user", id)';
  const valid = `"user" text NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, ${key}`;
  /** Invalid definitions, as they also appear in the error messages. */
  const invalid: [what: string, definition: string][] = [
    ['lacks a column', `"user" text NOT NULL, id bigint NOT NULL, name text NOT NULL, ${key}`],
    ['has ids of 32 bits', valid.replace('bigint', 'integer')],
    ['has names of a bounded length', valid.replace('name text', 'name character varying(10)')],
    ['may contain plants without a name', valid.replace('name text NOT NULL', 'name text')],
    ['requires tags', valid.replace('tag text', 'tag text NOT NULL')],
    ['requires another column', valid.replace('tag text', 'tag text, color text NOT NULL')],
    ['has no primary key', valid.replace(`, ${key}`, '')],
    ['has a deferrable primary key', `${valid} DEFERRABLE`],
    ['has a primary key of other columns', valid.replace(key, 'PRIMARY KEY (id)')],
    ['has a primary key in another order', valid.replace(key, 'PRIMARY KEY (id, "user")')],
  ];
  for (const [what, definition] of invalid) {
    it(`is rejected before it is read or written if it ${what}`, async (t) => {
      const schema = cluster.newSchemaName();
      const table = `"${schema}"."plants"`;
      await cluster.query(`CREATE SCHEMA "${schema}"`);
      await cluster.query(`CREATE TABLE ${table} (${definition})`);
      const pool = observed(cluster.pool(t));
      const storage = new PostgresStorage({ pool, schema });
      const rejected = (error: unknown): boolean => {
        assert.ok(error instanceof PlantStoreError && error.cause instanceof Error);
        assert.equal(error.code, 'storage_unsupported');
        assert.equal(error.cause.message, `${table} has (${definition}), and must have (${valid}).`);
        return true;
      };
      await assert.rejects(storage.commit([create(1n)]), rejected);
      await assert.rejects(storage.list('ada', everything), rejected);
      assert.ok(pool.texts.every((text) => !text.startsWith('INSERT') && !text.includes('OVER')));
    });
  }

  it('is rejected if it is a view', async (t) => {
    const schema = cluster.newSchemaName();
    await new PostgresStorage({ pool: cluster.pool(t), schema, table: 'beds' }).commit([create(1n)]);
    await cluster.query(`CREATE VIEW "${schema}".plants AS SELECT * FROM "${schema}".beds`);
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema });
    await assert.rejects(storage.list('ada', everything), { code: 'storage_unsupported' });
  });

  it('can be partitioned', async (t) => {
    const schema = cluster.newSchemaName();
    await cluster.query(`CREATE SCHEMA "${schema}"`);
    await cluster.query(`CREATE TABLE "${schema}".plants ("user" text COLLATE "C", id bigint, name text NOT NULL,
      tag text, ${key}) PARTITION BY HASH ("user")`);
    for (const remainder of [0, 1]) {
      await cluster.query(`CREATE TABLE "${schema}".part${remainder} PARTITION OF "${schema}".plants
        FOR VALUES WITH (MODULUS 2, REMAINDER ${remainder})`);
    }
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema });
    const users = ['ada', 'bob', 'eve', 'zoe'];
    await storage.commit(users.map((user) => create(1n, user)));
    assert.deepEqual(await storage.commit([create(1n, 'ada'), remove(1n, 'bob')]), [false, true]);
    assert.deepEqual(
      (await scanAll(storage)).map(({ user }) => user),
      ['ada', 'eve', 'zoe'],
    );
  });

  it('is checked again after it was renamed, and is not created again', async (t) => {
    const schema = cluster.newSchemaName();
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema });
    await storage.commit([create(1n)]);
    await cluster.query(`ALTER TABLE "${schema}".plants RENAME TO beds`);
    await assert.rejects(storage.commit([create(2n)]), { code: '42P01' });
    await assert.rejects(storage.commit([create(2n)]), (error) => {
      assert.ok(error instanceof PlantStoreError && error.cause instanceof Error);
      assert.equal(error.cause.message, `There is no table "${schema}"."plants".`);
      return error.code === 'storage_unsupported';
    });
    assert.deepEqual(await cluster.query('SELECT to_regclass($1)::text AS t', [`"${schema}".plants`]), [{ t: null }]);
    await cluster.query(`ALTER TABLE "${schema}".beds RENAME TO plants`);
    assert.deepEqual(await storage.commit([create(1n), create(2n)]), [false, true]);
  });

  it('is checked again after its primary key was dropped', async (t) => {
    const schema = cluster.newSchemaName();
    const storage = new PostgresStorage({ pool: cluster.pool(t), schema });
    await storage.commit([create(1n)]);
    await cluster.query(`ALTER TABLE "${schema}".plants DROP CONSTRAINT plants_pkey`);
    for (const code of ['42P10', 'storage_unsupported']) await assert.rejects(storage.commit([create(1n)]), { code });
  });
});
