import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import { sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import { statementsFor } from './statements.ts';
import type { PlantRow, StatementName } from './statements.ts';

export type RunStatement = (statement: StatementName, values: unknown[]) => ReturnType<PostgresPool['query']>;

// serialization_failure and deadlock_detected. After any other error, the outcome of the statement might be unknown.
const rolledBackStates: ReadonlySet<string | undefined> = new Set(['40001', '40P01']);

const maxRetries = 5;
const firstBackOffMs = 10;

// invalid_sql_statement_name and duplicate_prepared_statement. The statement was not executed.
const unpreparedStates: ReadonlySet<string | undefined> = new Set(['26000', '42P05']);

/** Prepares statements, because PostgreSQL then keeps their plans. Works without if a pooler rejects them. */
export function statementRunner(pool: PostgresPool, quotedTable: string): RunStatement {
  const statements = statementsFor(quotedTable);
  // Clients of a connection pooler can share a connection, so different statements must have different names.
  const digest = hash('sha256', JSON.stringify(statements), 'hex').slice(0, 24);
  let isSupported = true;

  return async (statement, values) => {
    const text = statements[statement];
    for (let retries = 0; ;) {
      const isPrepared = isSupported;
      try {
        const name = `plant_store_${statement}_${digest}`;
        return await pool.query(isPrepared ? { name, text, values } : { text, values });
      } catch (error) {
        if (isPrepared && unpreparedStates.has(sqlState(error))) {
          isSupported = false;
          continue;
        }
        if (retries === maxRetries || !rolledBackStates.has(sqlState(error))) throw error;
      }
      // The delay is random, so that conflicting statements do not collide again.
      await sleep(Math.random() * firstBackOffMs * 2 ** retries++);
    }
  };
}

/** Runs a statement that returns a row for each plant. */
export async function readPlants(
  run: RunStatement,
  statement: 'list' | 'scan',
  values: unknown[],
): Promise<OwnedPlant[]> {
  const { rows } = await run(statement, values);
  return (rows as PlantRow[]).map(({ user, id, name, tag }) => ({
    user,
    plant: tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag },
  }));
}
