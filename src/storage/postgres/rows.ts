import type { OwnedPlant } from '../../core/storage-adapter.ts';
import type { RunStatement } from './run-statement.ts';
import type { PlantRow } from './statements.ts';

/** Runs a statement that returns a row for each plant. */
export async function readRows(
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
