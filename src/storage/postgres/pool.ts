import { setTimeout as sleep } from 'node:timers/promises';

/** The part of a connection pool that this package uses. A `Pool` from the package `pg` implements it. */
export interface PostgresPool {
  /** Runs one statement in its own transaction, on any connection. */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{
    /** The rows that the statement returned. */
    rows: unknown[];
  }>;
}

/** How often a statement is retried after PostgreSQL rolled it back because of a concurrent statement. */
const maxRetries = 5;
/** The maximum delay before the first retry. It doubles with each retry. */
const firstBackOffMs = 10;

/**
 * The errors after which a statement was rolled back: serialization_failure and deadlock_detected. After any other
 * failure, such as a lost connection, the outcome may be unknown.
 */
const rolledBackStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);

/** Runs a statement and returns its rows. Retries the statement if PostgreSQL rolled it back. */
export async function runStatement(pool: PostgresPool, text: string, values: unknown[] = []): Promise<unknown[]> {
  for (let retries = 0; ; retries++) {
    try {
      const { rows } = await pool.query(text, values);
      return rows;
    } catch (error) {
      if (retries === maxRetries || !rolledBackStates.has(sqlState(error))) throw error;
    }
    // Jitter, so that conflicting statements do not collide again.
    await sleep(Math.random() * firstBackOffMs * 2 ** retries);
  }
}

/** Returns the SQLSTATE of a PostgreSQL error: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
