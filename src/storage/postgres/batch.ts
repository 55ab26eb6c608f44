import { PlantStoreError } from '../../core/model/errors.ts';
import type { PlantId } from '../../core/model/plant.ts';
import { runStatement, sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import type { PostgresStatements } from './statements.ts';
import type { Write } from '../../core/storage-adapter.ts';

/**
 * Matches the SQLSTATEs with which PostgreSQL rejects a plant. The SQLSTATE classes are data_exception,
 * integrity_constraint_violation and program_limit_exceeded.
 */
const rejectedPlant = /^(?:22|23|54)...$/;

/**
 * Applies a batch of writes with one statement. Returns one boolean for each write, which is `true` if the write
 * changed the table.
 */
export async function applyBatch(
  pool: PostgresPool,
  statements: PostgresStatements,
  writes: readonly Write[],
): Promise<boolean[]> {
  const [first, ...others] = writes;
  if (first === undefined) return [];
  try {
    return await (others.length === 0 ? applyOne(pool, statements, first) : applyAll(pool, statements, writes));
  } catch (error) {
    if (!rejectedPlant.test(sqlState(error) ?? '')) throw error;
    // A statement is atomic, so a failed statement has written nothing.
    throw new PlantStoreError('invalid_plant', 'The storage cannot hold a plant of this batch.', { cause: error });
  }
}

async function applyOne(
  pool: PostgresPool,
  { insertOne, removeOne }: PostgresStatements,
  write: Write,
): Promise<boolean[]> {
  const { rowCount } = await (write.kind === 'create'
    ? runStatement(pool, insertOne, [write.user, String(write.plant.id), write.plant.name, write.plant.tag ?? null])
    : runStatement(pool, removeOne, [write.user, String(write.id)]));
  return [rowCount === 1];
}

async function applyAll(
  pool: PostgresPool,
  { insert, remove, insertAndRemove }: PostgresStatements,
  writes: readonly Write[],
): Promise<boolean[]> {
  // All servers sort their batches in the same way, so that deadlocks between servers are rare.
  const sorted = writes.toSorted(byKey);
  const creates = sorted.filter((write) => write.kind === 'create');
  const removes = sorted.filter((write) => write.kind === 'delete');
  // Ids are converted to strings, because not every driver can send a bigint.
  const inserted = [
    creates.map(({ user }) => user),
    creates.map(({ plant }) => String(plant.id)),
    creates.map(({ plant }) => plant.name),
    creates.map(({ plant }) => plant.tag ?? null),
  ];
  const removed = [removes.map(({ user }) => user), removes.map(({ id }) => String(id))];
  let result;
  if (removes.length === 0) result = await runStatement(pool, insert, inserted);
  else if (creates.length === 0) result = await runStatement(pool, remove, removed);
  else result = await runStatement(pool, insertAndRemove, [...inserted, ...removed]);
  const changed = result.rows as { user: string; id: string }[];
  if (changed.length === writes.length) return writes.map(() => true);
  const keys = new Set(changed.map(({ user, id }) => `${id} ${user}`));
  return writes.map((write) => keys.has(`${idOf(write)} ${write.user}`));
}

function idOf(write: Write): PlantId {
  return write.kind === 'create' ? write.plant.id : write.id;
}

function byKey(a: Write, b: Write): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1;
  return idOf(a) < idOf(b) ? -1 : 1;
}
