import { checkOptionNames } from '../../model/options.ts';
import { PlantStoreError } from '../../model/errors.ts';
import type { PlantId, StoredPlant } from '../../model/plant.ts';
import { emptyPage, listAsJson } from '../json-page.ts';
import { fullPageEnd, maxPageLength } from '../page-bounds.ts';
import { applyBatch } from './batch.ts';
import { runStatement } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import { statementsFor } from './statements.ts';
import type { PageStatement, PostgresStatements } from './statements.ts';
import { checkTableOptions, prepareTable, quotedTable } from './table.ts';
import type { JsonPage, ListRange, OwnedPlant, ScanRange, StorageAdapter, Write } from '../storage-adapter.ts';

/** Options of a {@link PostgresStorage}. */
export interface PostgresStorageOptions {
  /** The connection pool: a `Pool` from the package `pg`. The application owns and closes it. */
  pool: PostgresPool;
  /** The schema of the table, created if missing. By default, the connection's `search_path` determines it. */
  schema?: string | undefined;
  /** The name of the table; default `plants`. */
  table?: string | undefined;
  /** Whether to create the table at the first use if it is missing; default `true`. */
  createTable?: boolean | undefined;
}

const optionNames = {
  pool: true,
  schema: true,
  table: true,
  createTable: true,
} as const satisfies Record<keyof PostgresStorageOptions, true>;

/** The number of plants below which a page is read without a limit on its size. */
const maxFew = 100;

/**
 * Stores plants in a PostgreSQL database, 14 or newer, through the application's own connection pool. Any number of
 * servers can share a table. A commit is as durable as the database makes it: it is on the database's disk, and on the
 * disk of a synchronous standby if there is one.
 *
 * The first use checks for the table and creates it if it is missing. If the connection is lost during a write, the
 * write rejects, but it may have been committed. Such a write is never retried automatically.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
 */
export class PostgresStorage implements StorageAdapter {
  readonly #pool: PostgresPool;
  readonly #statements: PostgresStatements;
  readonly #prepareTable: () => Promise<void>;
  #tablePrepared: Promise<void> | undefined;
  #isClosed = false;

  /** Checks the options. Does not connect yet. */
  constructor(options: PostgresStorageOptions) {
    checkOptionNames('PostgresStorage', options, optionNames);
    const { pool, schema, table = 'plants', createTable = true } = options;
    if (typeof (pool as Partial<PostgresPool> | null | undefined)?.query !== 'function') {
      throw new TypeError('pool must be a pool of connections: it has no query');
    }
    if (typeof createTable !== 'boolean') throw new TypeError('createTable must be true or false');
    const place = { schema, table };
    checkTableOptions(place);
    this.#pool = pool;
    this.#statements = statementsFor(quotedTable(place));
    this.#prepareTable = () => prepareTable(pool, place, createTable);
  }

  /**
   * See {@link StorageAdapter}. A commit is one statement, and so one round trip.
   *
   * @throws {PlantStoreError} `storage_unsupported` if the table is missing or has other columns, or if the database's
   *   encoding is not UTF8; `invalid_plant` if PostgreSQL rejects the values of a batch (SQLSTATE class 22 or 54), in
   *   which case nothing was written.
   */
  async commit(writes: readonly Write[]): Promise<boolean[]> {
    await this.#ready();
    return writes.length === 0 ? [] : applyBatch(this.#pool, this.#statements, writes);
  }

  /** See {@link StorageAdapter}. */
  async list(user: string, { after, limit }: ListRange): Promise<StoredPlant[]> {
    await this.#ready();
    const { list, listFew } = this.#statements;
    return pageOf<StoredPlant>(
      limit,
      async (last, count) => {
        const rows = await this.#read(count > maxFew ? list : listFew, [count, user], last?.id ?? after);
        return (rows as PlantRow[]).map(plantOf);
      },
      (plant) => plant,
    );
  }

  /** See {@link StorageAdapter}. */
  async scan({ after, limit }: ScanRange): Promise<OwnedPlant[]> {
    await this.#ready();
    return pageOf<OwnedPlant>(
      limit,
      async (last, count) => {
        const key = last === undefined ? after : { user: last.user, id: last.plant.id };
        const rows = await this.#read(this.#statements.scan, key === undefined ? [count] : [count, key.user], key?.id);
        return (rows as PlantRow[]).map((row) => ({ user: row.user, plant: plantOf(row) }));
      },
      ({ plant }) => plant,
    );
  }

  /** See {@link StorageAdapter}. */
  async listJson(user: string, { after, limit }: ListRange): Promise<JsonPage> {
    // For few plants, `list` is less work for both Node.js and PostgreSQL.
    if (limit < maxFew) return listAsJson(this, user, { after, limit });
    await this.#ready();
    const [row] = await this.#read(this.#statements.listJson, [limit, user], after);
    const { count, last, json, hasMore } = row as JsonPageRow;
    if (last === null) return emptyPage;
    if (json === null) return listAsJson(this, user, { after, limit });
    return { json, count: Number(count), last: BigInt(last), hasMore: hasMore === 'true' };
  }

  /** See {@link StorageAdapter}. The pool stays open: the application closes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** Resolves when the table is known to exist. Checks only once, unless the check fails. */
  async #ready(): Promise<void> {
    if (this.#isClosed) throw new PlantStoreError('closed');
    this.#tablePrepared ??= this.#prepareTable().catch((error: unknown) => {
      this.#tablePrepared = undefined;
      throw error;
    });
    await this.#tablePrepared;
  }

  #read({ first, next }: PageStatement, values: unknown[], after: PlantId | undefined): Promise<unknown[]> {
    return after === undefined
      ? runStatement(this.#pool, first, values)
      : runStatement(this.#pool, next, [...values, String(after)]);
  }
}

interface PlantRow {
  readonly user: string;
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

interface JsonPageRow {
  readonly count: string;
  readonly last: string | null;
  readonly json: string | null;
  readonly hasMore: string;
}

/** Reads items, at most 1000 at a time, until the limit is reached, the page is full, or none are left. */
async function pageOf<T>(
  limit: number,
  read: (last: T | undefined, count: number) => Promise<T[]>,
  plantIn: (item: T) => StoredPlant,
): Promise<T[]> {
  const page: T[] = [];
  while (page.length < limit) {
    const count = Math.min(maxPageLength, limit - page.length);
    const items = await read(page.at(-1), count);
    page.push(...items);
    const end = fullPageEnd(page.map(plantIn));
    if (end !== undefined) return page.slice(0, end);
    if (items.length < count) break;
  }
  return page;
}

function plantOf({ id, name, tag }: PlantRow): StoredPlant {
  const plantId: PlantId = BigInt(id);
  return tag === null ? { id: plantId, name } : { id: plantId, name, tag };
}
