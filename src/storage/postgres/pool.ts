import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import { statementsFor } from './statements.ts';
import type { StatementName } from './statements.ts';

/** The part of a connection pool that this package uses. A `Pool` from the `pg` package implements this interface. */
export interface PostgresPool {
  /** Runs a statement in its own transaction, on any connection of the pool. */
  query(statement: {
    /** The name of the prepared statement. If `undefined`, the statement is not prepared for reuse. */
    name?: string;
    text: string;
    values: unknown[];
  }): Promise<{
    /** One object for each row, with a member for each column. */
    rows: unknown[];
    /** The number of rows that the statement returned or changed. */
    rowCount: number | null;
  }>;
}

/** Returns the SQLSTATE of a PostgreSQL error: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

export type RunStatement = (statement: StatementName, values: unknown[]) => ReturnType<PostgresPool['query']>;

// serialization_failure and deadlock_detected. After any other error, the outcome of the statement might be unknown.
const rolledBackStates: readonly unknown[] = ['40001', '40P01'];
const maxRetries = 5;
const firstBackOffMs = 10;

// invalid_sql_statement_name and duplicate_prepared_statement. The statement was not executed.
const unpreparedStates: readonly unknown[] = ['26000', '42P05'];

/** Prepares statements, because PostgreSQL then keeps their plans. Stops doing so if a pooler rejects them. */
export function statementRunner(pool: PostgresPool, quotedTable: string): RunStatement {
  const statements = statementsFor(quotedTable);
  // Clients of a connection pooler can share a connection, so different statements must have different names.
  const digest = hash('sha256', JSON.stringify(statements), 'hex').slice(0, 24);
  let isSupported = true;

  return async (statement, values) => {
    const text = statements[statement];
    const name = `plant_store_${statement}_${digest}`;
    for (let retries = 0; ;) {
      const isPrepared = isSupported;
      try {
        return await pool.query(isPrepared ? { name, text, values } : { text, values });
      } catch (error) {
        const state = sqlState(error);
        if (isPrepared && unpreparedStates.includes(state)) isSupported = false;
        else if (retries === maxRetries || !rolledBackStates.includes(state)) throw error;
        // The delay is random, so that conflicting statements do not collide again.
        else await sleep(Math.random() * firstBackOffMs * 2 ** retries++);
      }
    }
  };
}

/** Runs a statement that returns a row for each plant. */
export async function readPlants(run: RunStatement, name: 'list' | 'scan', values: unknown[]): Promise<OwnedPlant[]> {
  const { rows } = await run(name, values);
  type Row = Record<'user' | 'id' | 'name', string> & { tag: string | null };
  return (rows as Row[]).map(({ user, id, name, tag }) => ({
    user,
    plant: tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag },
  }));
}
