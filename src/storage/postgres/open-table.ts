import { maxInt64, minInt64 } from '../../model/int64.ts';
import type { StoredPlant } from '../../model/plant.ts';
import { emptyPage, listAsJson } from '../json-page.ts';
import { BatchWriter } from './batch.ts';
import { firstId, readPages } from './pages.ts';
import type { PostgresPool } from './pool.ts';
import { ReadGroup } from './read-group.ts';
import { readPlants } from './rows.ts';
import type { PostgresStatements } from './statements.ts';
import type { JsonPage, ListRange, OwnedPlant, PlantKey, ScanRange, Write } from '../storage-adapter.ts';

/** A key that is less than the key of every plant, because a user is never an empty string. */
const beforeAll: PlantKey = { user: '', id: minInt64 };

/** Reads and writes a table that is known to exist. */
export class OpenTable {
  readonly #pool: PostgresPool;
  readonly #statements: PostgresStatements;
  readonly #writer: BatchWriter;
  readonly #group: ReadGroup;

  constructor(pool: PostgresPool, statements: PostgresStatements) {
    this.#pool = pool;
    this.#statements = statements;
    this.#writer = new BatchWriter(pool, statements);
    this.#group = new ReadGroup({
      together: (requests) => readPages(pool, statements.pages, requests),
      alone: ({ user, ...range }) => listAsJson(this, user, range),
    });
  }

  /** See `StorageAdapter.commit`. */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    return writes.length === 0 ? [] : this.#writer.apply(writes);
  }

  /** See `StorageAdapter.list`. */
  async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    const plants = await readPlants(this.#pool, {
      statements: this.#statements.list,
      from: (last) => ({ user, id: firstId(last?.plant.id ?? after) }),
      limit,
    });
    return plants.map(({ plant }) => plant);
  }

  /** See `StorageAdapter.listJson`. */
  async listJson(user: string, { after, limit }: ListRange): Promise<JsonPage> {
    return firstId(after) > maxInt64 ? emptyPage : this.#group.read({ user, after, limit });
  }

  /** See `StorageAdapter.scan`. */
  scan({ after = beforeAll, limit }: ScanRange): Promise<OwnedPlant[]> {
    return readPlants(this.#pool, {
      statements: this.#statements.scan,
      from: (last) => (last === undefined ? after : { user: last.user, id: last.plant.id }),
      limit,
    });
  }
}
