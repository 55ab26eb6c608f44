import { setTimeout as sleep } from 'node:timers/promises';

/** The part of a connection pool that this package uses. A `Pool` from the `pg` package implements this interface. */
export interface PostgresPool {
  /** Runs a statement in its own transaction, on any connection of the pool. */
  query(statement: {
    /** The name of the prepared statement. If `undefined`, the statement is not prepared for reuse. */
    name?: string;
    text: string;
    values: unknown[];
  }): Promise<{
    /** The rows that the statement returned. */
    rows: unknown[];
    /** The number of rows that the statement returned or changed. */
    rowCount: number | null;
  }>;
}

const maxRetries = 5;
/** The maximum delay before the first retry, in milliseconds. The maximum doubles with each retry. */
const firstBackOffMs = 10;

/**
 * The SQLSTATEs that mean that a statement was rolled back: serialization_failure and deadlock_detected. After any
 * other error, such as a lost connection, the statement's outcome might be unknown.
 */
const rolledBackStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);

/** Runs a statement. Retries the statement if PostgreSQL rolled it back because of a concurrent statement. */
export async function runStatement(
  pool: PostgresPool,
  text: string,
  values: unknown[] = [],
): ReturnType<PostgresPool['query']> {
  for (let retries = 0; ; retries++) {
    try {
      return await pool.query({ text, values });
    } catch (error) {
      if (retries === maxRetries || !rolledBackStates.has(sqlState(error))) throw error;
    }
    // The delay is random, so that conflicting statements do not collide again.
    await sleep(Math.random() * firstBackOffMs * 2 ** retries);
  }
}

/** Returns the SQLSTATE of a PostgreSQL error: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
