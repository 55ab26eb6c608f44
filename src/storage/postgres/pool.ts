import { setTimeout as sleep } from 'node:timers/promises';

/** What is needed of a connection pool: a `Pool` of the package `pg` has it. */
export interface PostgresPool {
  /** Runs one statement in a transaction of its own, on any connection. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** How often a statement is run again that PostgreSQL has rolled back to let another one pass. */
const maxRetries = 5;
/** The longest wait before the first retry; it doubles with each. */
const firstBackOffMs = 10;

/**
 * After these nothing of the statement is left: serialization_failure and deadlock_detected. Of
 * any other failure, a lost connection above all, the outcome may be unknown.
 */
const rolledBackStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);

/** Runs a statement, again where PostgreSQL asks for it; the rows. */
export async function runStatement(pool: PostgresPool, text: string, values: unknown[] = []): Promise<unknown[]> {
  for (let retries = 0; ; retries++) {
    try {
      const { rows } = await pool.query(text, values);
      return rows;
    } catch (error) {
      if (retries === maxRetries || !rolledBackStates.has(sqlState(error))) throw error;
    }
    // At random, so that two who met do not meet again.
    await sleep(Math.random() * firstBackOffMs * 2 ** retries);
  }
}

/** The SQLSTATE of an error of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
