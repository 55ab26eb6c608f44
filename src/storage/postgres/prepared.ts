import { createHash } from 'node:crypto';
import { sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';

/**
 * The SQLSTATEs that mean that a prepared statement was rejected and not executed. A rejected statement can succeed
 * without preparation.
 */
const unpreparedStates: ReadonlySet<string | undefined> = new Set([
  '26000', // invalid_sql_statement_name: a connection pooler has continued the session on another connection
  '42P05', // duplicate_prepared_statement: a connection pooler uses the connection for several sessions
  '0A000', // feature_not_supported: the type of a table column has changed
]);

/** The interval at which the table's size is read, in milliseconds. */
const sizeIntervalMs = 1000;

/**
 * The minimum size of a large table, in bytes. A table of this size contains about 2,500 plants. For a large table,
 * PostgreSQL always chooses a plan that uses the index.
 */
const largeTableBytes = 262_144;

/**
 * Returns a pool that sends statements through `pool` as prepared statements, so that PostgreSQL parses and plans each
 * statement only once per connection. Prepared statements save a third to a half of PostgreSQL's CPU time per
 * statement.
 *
 * PostgreSQL keeps a plan until the table is next analyzed. A plan that was made for an empty table reads the whole
 * table, even after the table has grown. To avoid such plans, different prepared statements are used once the table is
 * large. `quotedTable` is the quoted name of the table whose size is checked.
 *
 * Some connection poolers in transaction mode do not support prepared statements. If a prepared statement is rejected,
 * this statement and all later statements are sent without preparation.
 */
export function withPreparedStatements(pool: PostgresPool, quotedTable: string): PostgresPool {
  const hashes = new Map<string, string>();
  let isSupported = true;
  let isLarge = false;
  let nextSizeAt = 0;

  function nameOf(text: string): string {
    let hash = hashes.get(text);
    if (hash === undefined) {
      // Several clients of a connection pooler can share a connection. The hash gives different statements different
      // names.
      hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
      hashes.set(text, hash);
    }
    return `plant_store_${isLarge ? 'large' : 'small'}_${hash}`;
  }

  async function readSize(): Promise<void> {
    nextSizeAt = Infinity;
    const text = `SELECT (pg_relation_size(to_regclass($1)) >= ${largeTableBytes})::text AS "isLarge"`;
    try {
      const { rows } = await pool.query({ text, values: [quotedTable] });
      isLarge = (rows[0] as { isLarge: string | null }).isLarge === 'true';
    } catch {
      // The table's size is read again after the interval.
    }
    nextSizeAt = performance.now() + sizeIntervalMs;
  }

  return {
    async query(statement) {
      if (!isSupported) return pool.query(statement);
      try {
        return await pool.query({ name: nameOf(statement.text), ...statement });
      } catch (error) {
        if (!unpreparedStates.has(sqlState(error))) throw error;
        isSupported = false;
        return await pool.query(statement);
      } finally {
        // The statement's connection is idle now, so reading the size does not open another connection.
        if (performance.now() >= nextSizeAt) void readSize();
      }
    },
  };
}
