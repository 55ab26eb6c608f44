import { PlantStoreError } from '../../core/model/errors.ts';
import type { PlantId } from '../../core/model/plant.ts';
import { runStatement, runTransaction, sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import type { PostgresStatements } from './statements.ts';
import type { CreateWrite, DeleteWrite, Write } from '../storage-adapter.ts';

interface KeyRow {
  readonly user: string;
  readonly id: string;
}

/**
 * Applies each batch of writes atomically. A batch is one statement, or a transaction of two statements if the database
 * does not allow a statement to modify a table twice.
 */
export class BatchWriter {
  readonly #pool: PostgresPool;
  readonly #statements: PostgresStatements;
  /**
   * Whether creates and deletes must be sent as separate statements. This becomes true when the database rejects a
   * statement that contains both.
   */
  #mustSplit = false;

  constructor(pool: PostgresPool, statements: PostgresStatements) {
    this.#pool = pool;
    this.#statements = statements;
  }

  /** Applies a batch. Returns one boolean for each write: whether the write changed the table. */
  async apply(writes: readonly Write[]): Promise<boolean[]> {
    if (writes.length === 0) return [];
    // All servers sort their batches in the same way, so that deadlocks between them are rare.
    const sorted = writes.toSorted(byKey);
    const creates = sorted.filter((write) => write.kind === 'create');
    const removes = sorted.filter((write) => write.kind === 'delete');
    const changed = (await this.#run(creates, removes).catch(asBatchError)) as KeyRow[];
    if (changed.length === writes.length) return writes.map(() => true);
    const keys = new Set(changed.map(({ user, id }) => `${id} ${user}`));
    return writes.map((write) => keys.has(`${idOf(write)} ${write.user}`));
  }

  async #run(creates: readonly CreateWrite[], removes: readonly DeleteWrite[]): Promise<unknown[]> {
    const { insert, remove, insertAndRemove } = this.#statements;
    // One array per column. Ids are converted to strings, because not every driver can send a bigint as a number.
    const inserted = [
      creates.map(({ user }) => user),
      creates.map(({ plant }) => String(plant.id)),
      creates.map(({ plant }) => plant.name),
      creates.map(({ plant }) => plant.tag ?? null),
    ];
    const removed = [removes.map(({ user }) => user), removes.map(({ id }) => String(id))];
    if (removes.length === 0) return runStatement(this.#pool, insert, inserted);
    if (creates.length === 0) return runStatement(this.#pool, remove, removed);
    if (!this.#mustSplit) {
      try {
        return await runStatement(this.#pool, insertAndRemove, [...inserted, ...removed]);
      } catch (error) {
        // feature_not_supported: the database does not allow a statement to modify a table twice.
        if (sqlState(error) !== '0A000') throw error;
        this.#mustSplit = true;
      }
    }
    return runTransaction(this.#pool, [
      [insert, inserted],
      [remove, removed],
    ]);
  }
}

function asBatchError(error: unknown): never {
  const state = sqlState(error);
  // data_exception or program_limit_exceeded: the database rejected a value. Nothing was written, because a batch is
  // atomic.
  if (state?.length === 5 && (state.startsWith('22') || state.startsWith('54'))) {
    throw new PlantStoreError('invalid_plant', 'The storage cannot hold a plant of this batch.', { cause: error });
  }
  // invalid_column_reference: the table does not have the unique index that ON CONFLICT requires.
  if (state !== '42P10') throw error;
  throw new PlantStoreError('storage_unsupported', 'The storage has a table without its primary key.', {
    cause: error,
  });
}

function idOf(write: Write): PlantId {
  return write.kind === 'create' ? write.plant.id : write.id;
}

function byKey(a: Write, b: Write): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1;
  return idOf(a) < idOf(b) ? -1 : 1;
}
