import { Client } from 'pg';
import type { PostgresCluster } from '../support/postgres.ts';
import { numberedUsers, otherUsers } from './data-set.ts';

/** Creates a PostgreSQL database with the same plants as the SQLite file, and returns its connection string. */
export async function createPostgresDatabase(cluster: PostgresCluster): Promise<string> {
  const url = await cluster.makeDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  // The candidates use this table instead of creating their own.
  await client.query(`CREATE TABLE plants (
    "user" text COLLATE "C" NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, PRIMARY KEY ("user", id)
  )`);
  const insert = `INSERT INTO plants
    SELECT $1, n, 'Fern number ' || n, 'indoor' FROM generate_series(1, $2::integer) AS n`;
  for (const numbered of Object.entries(numberedUsers)) await client.query(insert, numbered);
  await client.query(
    `INSERT INTO plants
     SELECT "user", 1000000 + (random() * 2::double precision ^ 52)::bigint, 'Fern number ' || n, 'indoor'
     FROM unnest($1::text[]) AS "user", generate_series(1, 1000) AS n ON CONFLICT DO NOTHING`,
    [otherUsers],
  );
  await client.query('VACUUM ANALYZE plants');
  await client.query('CHECKPOINT');
  await client.end();
  return url;
}
