import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import { statementsFor } from './statements.ts';
import type { StatementName } from './statements.ts';

export type RunStatement = (statement: StatementName, values: unknown[]) => ReturnType<PostgresPool['query']>;

// serialization_failure and deadlock_detected. After any other error, the outcome of the statement might be unknown.
const rolledBackStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);

const maxRetries = 5;
const firstBackOffMs = 10;

// invalid_sql_statement_name and duplicate_prepared_statement. The statement was not executed.
const unpreparedStates: ReadonlySet<string | undefined> = new Set(['26000', '42P05']);

const sizeIntervalMs = 1000;

/** From this table size on (about 2,500 plants), PostgreSQL always plans to use the index. */
const largeTableBytes = 262_144;

/**
 * Prepared statements save a third to a half of PostgreSQL's CPU time. PostgreSQL keeps their plans until the table is
 * next analyzed. A plan that was made for an empty table reads the whole table, even after the table has grown.
 * Therefore, different prepared statements are used once the table is large.
 */
export function statementRunner(pool: PostgresPool, quotedTable: string): RunStatement {
  const statements = statementsFor(quotedTable);
  // Clients of a connection pooler can share a connection, so different statements must have different names.
  const digest = hash('sha256', JSON.stringify(statements), 'hex').slice(0, 24);
  let isSupported = true;
  let isLarge = false;
  let nextSizeAt = 0;

  async function readSize(): Promise<void> {
    nextSizeAt = Infinity;
    const text = `SELECT (pg_relation_size(to_regclass($1)) >= ${largeTableBytes})::text AS "isLarge"`;
    try {
      const { rows } = await pool.query({ text, values: [quotedTable] });
      isLarge = (rows[0] as { isLarge: string | null }).isLarge === 'true';
    } catch {
      // It is read again after the interval.
    }
    nextSizeAt = performance.now() + sizeIntervalMs;
  }

  return async (statement, values) => {
    const text = statements[statement];
    for (let retries = 0; ;) {
      const isPrepared = isSupported;
      try {
        const name = `plant_store_${isLarge ? 'large' : 'small'}_${statement}_${digest}`;
        return await pool.query(isPrepared ? { name, text, values } : { text, values });
      } catch (error) {
        if (isPrepared && unpreparedStates.has(sqlState(error))) {
          isSupported = false;
          continue;
        }
        if (retries === maxRetries || !rolledBackStates.has(sqlState(error))) throw error;
      } finally {
        // The statement's connection is idle now, so reading the size does not open another connection.
        if (performance.now() >= nextSizeAt) void readSize();
      }
      // The delay is random, so that conflicting statements do not collide again.
      await sleep(Math.random() * firstBackOffMs * 2 ** retries++);
    }
  };
}
