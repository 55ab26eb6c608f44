import { Client } from 'pg';
import { PostgresCluster } from '../support/postgres.ts';
import { deletedCount, deletedUser, listedCount, listedUser, otherUsers } from './garden.ts';

/** A PostgreSQL server for the benchmark, with the same plants as the SQLite files have. */
export interface PostgresGarden {
  /** A database for one candidate; its connection string. */
  makeDatabase(): Promise<string>;
  remove(): Promise<void>;
}

export async function startPostgresGarden(): Promise<PostgresGarden> {
  const cluster = await PostgresCluster.start();
  return {
    makeDatabase: async () => {
      const url = await cluster.makeDatabase();
      await plant(url);
      return url;
    },
    remove: () => cluster.remove(),
  };
}

/** The table as each candidate would create it, filled. */
async function plant(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE TABLE plants (
    "user" text COLLATE "C" NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, PRIMARY KEY ("user", id)
  )`);
  const insert = `INSERT INTO plants SELECT $1, n, 'Fern number ' || n, 'indoor' FROM generate_series(1, $2::integer) AS n`;
  await client.query(insert, [listedUser, listedCount]);
  await client.query(insert, [deletedUser, deletedCount]);
  await client.query(
    `INSERT INTO plants SELECT "user", 1000000 + (random() * 2::double precision ^ 52)::bigint, 'Fern number ' || n, 'indoor'
     FROM unnest($1::text[]) AS "user", generate_series(1, 1000) AS n ON CONFLICT DO NOTHING`,
    [otherUsers],
  );
  await client.query('VACUUM ANALYZE plants');
  await client.query('CHECKPOINT');
  await client.end();
}
