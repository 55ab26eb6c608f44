import { PlantStoreError } from '../../model/errors.ts';
import { runStatement, sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import type { PostgresStatements } from './statements.ts';
import type { CreateWrite, DeleteWrite, PlantKey, Write } from '../storage-adapter.ts';

interface KeyRow {
  readonly user: string;
  readonly id: string;
}

/** Applies a batch in one statement, all or nothing. Returns for each write whether it changed the table. */
export async function applyBatch(
  pool: PostgresPool,
  statements: PostgresStatements,
  writes: readonly Write[],
): Promise<boolean[]> {
  // All servers write in the same order, so that deadlocks between them are rare.
  const sorted = writes.toSorted(byKey);
  const creates = sorted.filter((write) => write.kind === 'create');
  const removes = sorted.filter((write) => write.kind === 'delete');
  const changed = (await runBatch(pool, statements, creates, removes)) as KeyRow[];
  if (changed.length === writes.length) return writes.map(() => true);
  const keys = new Set(changed.map(({ user, id }) => `${id} ${user}`));
  return writes.map((write) => {
    const { user, id } = keyOf(write);
    return keys.has(`${id} ${user}`);
  });
}

async function runBatch(
  pool: PostgresPool,
  { insert, remove, insertAndRemove }: PostgresStatements,
  creates: readonly CreateWrite[],
  removes: readonly DeleteWrite[],
): Promise<unknown[]> {
  try {
    if (removes.length === 0) return await runStatement(pool, insert, insertValues(creates));
    if (creates.length === 0) return await runStatement(pool, remove, removeValues(removes));
    return await runStatement(pool, insertAndRemove, [...insertValues(creates), ...removeValues(removes)]);
  } catch (error) {
    const state = sqlState(error);
    if (isDataError(state)) {
      throw new PlantStoreError('invalid_plant', 'The storage cannot hold a plant of this batch.', { cause: error });
    }
    // invalid_column_reference: the table has no unique index, so ON CONFLICT fails and ids could repeat.
    if (state !== '42P10') throw error;
    throw new PlantStoreError('storage_unsupported', 'The storage has a table without its primary key.', {
      cause: error,
    });
  }
}

/**
 * Checks whether a statement failed because of its values: data_exception or program_limit_exceeded. One statement is
 * one transaction, so nothing was written.
 */
function isDataError(state: string | undefined): boolean {
  return state?.length === 5 && (state.startsWith('22') || state.startsWith('54'));
}

/** Returns one array per column. Ids are strings, because not every driver can send a bigint as a number. */
function insertValues(creates: readonly CreateWrite[]): unknown[] {
  return [
    creates.map(({ user }) => user),
    creates.map(({ plant }) => String(plant.id)),
    creates.map(({ plant }) => plant.name),
    creates.map(({ plant }) => plant.tag ?? null),
  ];
}

function removeValues(removes: readonly DeleteWrite[]): unknown[] {
  return [removes.map(({ user }) => user), removes.map(({ id }) => String(id))];
}

function keyOf(write: Write): PlantKey {
  return write.kind === 'create' ? { user: write.user, id: write.plant.id } : write;
}

function byKey(a: Write, b: Write): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1;
  return keyOf(a).id < keyOf(b).id ? -1 : 1;
}
