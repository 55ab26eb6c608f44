import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStoreError } from '../../core/model/errors.ts';

/** The part of a connection pool that this package uses. A `Pool` from the `pg` package implements it. */
export interface PostgresPool {
  /** Runs a statement in its own transaction, on any connection of the pool. */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{
    /** The rows that the statement returned. */
    rows: unknown[];
  }>;
  /**
   * Reserves a connection for a transaction of several statements. This method is required only for databases that,
   * unlike PostgreSQL, do not allow a statement to modify a table twice.
   */
  connect?(): Promise<PostgresClient>;
}

/** A reserved connection of a {@link PostgresPool}. */
export interface PostgresClient {
  /** Runs one statement. */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{
    /** The rows that the statement returned. */
    rows: unknown[];
    /** The first word of the command tag that the database returned, such as `COMMIT`. */
    command: string;
  }>;
  /** Returns the connection to the pool, or closes the connection if `destroy` is true. */
  release(destroy?: boolean): void;
}

/**
 * The maximum number of times that a statement is retried if PostgreSQL rolls it back because of a concurrent
 * statement.
 */
const maxRetries = 5;
/** The maximum delay before the first retry, in milliseconds. The maximum doubles with each retry. */
const firstBackOffMs = 10;

/**
 * The SQLSTATEs that mean that a statement was rolled back: serialization_failure and deadlock_detected. After any
 * other error, such as a lost connection, the outcome may be unknown.
 */
const rolledBackStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);

/** Runs a statement and returns its rows. Retries the statement if PostgreSQL rolled it back. */
export function runStatement(pool: PostgresPool, text: string, values: unknown[] = []): Promise<unknown[]> {
  return retryRolledBack(async () => (await pool.query(text, values)).rows);
}

/**
 * Runs statements in one transaction and returns the rows of all statements. Retries the transaction if the database
 * rolled it back.
 *
 * @throws {PlantStoreError} `storage_unsupported` if the pool has no `connect`.
 */
export function runTransaction(
  pool: PostgresPool,
  statements: readonly (readonly [text: string, values: unknown[]])[],
): Promise<unknown[]> {
  return retryRolledBack(async () => {
    const client = await pool.connect?.();
    if (client === undefined) {
      throw new PlantStoreError('storage_unsupported', 'The storage needs a connection pool with connect.');
    }
    try {
      const rows: unknown[] = [];
      await client.query('BEGIN');
      for (const [text, values] of statements) rows.push(...(await client.query(text, values)).rows);
      const { command } = await client.query('COMMIT');
      // If a statement of the transaction has failed, COMMIT does not report an error: it rolls back and returns the
      // command tag ROLLBACK.
      if (command !== 'COMMIT') throw new Error(`The transaction ended with ${command} instead of COMMIT`);
      client.release();
      return rows;
    } catch (error) {
      // Closing the connection rolls back the transaction.
      client.release(true);
      throw error;
    }
  });
}

async function retryRolledBack<T>(work: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    try {
      return await work();
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
