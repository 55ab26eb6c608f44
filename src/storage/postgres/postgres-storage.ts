import { PlantStoreError } from '../../model/errors.ts';
import { maxInt64 } from '../../model/int64.ts';
import { checkBooleanOption, checkOptionNames } from '../../model/options.ts';
import type { StoredPlant } from '../../model/plant.ts';
import { emptyPage, listAsJson } from '../json-page.ts';
import { BatchWriter } from './batch.ts';
import { firstId, readPages } from './pages.ts';
import type { PostgresPool } from './pool.ts';
import { ReadGroup } from './read-group.ts';
import { listPlants, scanPlants } from './rows.ts';
import { statementsFor } from './statements.ts';
import type { PostgresStatements } from './statements.ts';
import { checkTableOptions, prepareTable, quotedTable } from './table.ts';
import type { JsonPage, ListRange, OwnedPlant, ScanRange, StorageAdapter, Write } from '../storage-adapter.ts';

/** Options of a {@link PostgresStorage}. */
export interface PostgresStorageOptions {
  /** The connection pool: a `Pool` from the package `pg`. The application owns and closes it. */
  pool: PostgresPool;
  /**
   * The schema of the table. A missing schema is created together with the table. By default, the connection's
   * `search_path` determines the schema.
   */
  schema?: string | undefined;
  /** The name of the table; default `plants`. */
  table?: string | undefined;
  /** Whether the first operation creates the table if it is missing; default `true`. */
  createTable?: boolean | undefined;
}

const optionNames = {
  pool: true,
  schema: true,
  table: true,
  createTable: true,
} as const satisfies Record<keyof PostgresStorageOptions, true>;

/** What operations use once the table is known to exist. */
interface OpenTable {
  readonly statements: PostgresStatements;
  readonly writer: BatchWriter;
  readonly group: ReadGroup;
}

/**
 * Stores plants in a PostgreSQL database, 14 or newer, through the application's own connection pool. Any number of
 * servers can share a table. A commit is as durable as the database makes it: it is on the database's disk, and on the
 * disk of a synchronous standby if there is one.
 *
 * The first operation checks whether the table exists, and creates the table if it is missing. If the connection is
 * lost during a write, the write rejects, but it may have been committed. Such a write is never retried automatically.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
 */
export class PostgresStorage implements StorageAdapter {
  readonly #pool: PostgresPool;
  readonly #openTable: () => Promise<OpenTable>;
  #table: Promise<OpenTable> | undefined;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** Checks the options. Does not connect yet. */
  constructor(options: PostgresStorageOptions) {
    checkOptionNames('PostgresStorage', options, optionNames);
    const { pool, schema, table = 'plants', createTable = true } = options;
    if (typeof (pool as Partial<PostgresPool> | null | undefined)?.query !== 'function') {
      throw new TypeError('pool must be a pool of connections: it has no query');
    }
    checkBooleanOption('createTable', createTable);
    const place = { schema, table };
    checkTableOptions(place);
    this.#pool = pool;
    this.#openTable = async () => {
      const statements = statementsFor(quotedTable(place), await prepareTable(pool, place, createTable));
      const list: StorageAdapter['list'] = (user, range) => listPlants(pool, statements.list, user, range);
      const group = new ReadGroup(
        (requests) => readPages(pool, statements.pages, requests),
        ({ user, ...range }) => listAsJson({ list }, user, range),
      );
      return { statements, writer: new BatchWriter(pool, statements), group };
    };
  }

  /**
   * See {@link StorageAdapter}. If the database lets one statement modify a table twice, as PostgreSQL does, a commit
   * is one statement and needs one round trip. Otherwise a commit that contains both creates and deletes is a
   * transaction of two statements.
   *
   * @throws {PlantStoreError} `storage_unsupported` if the table is missing or has other columns, or if the database's
   *   encoding is not UTF8; `invalid_plant` if PostgreSQL rejects the values of a batch (SQLSTATE class 22 or 54), in
   *   which case nothing was written.
   */
  commit(writes: readonly Write[]): Promise<boolean[]> {
    return this.#run(({ writer }) => writer.apply(writes));
  }

  /** See {@link StorageAdapter}. */
  list(user: string, range: ListRange): Promise<StoredPlant[]> {
    return this.#run(({ statements }) => listPlants(this.#pool, statements.list, user, range));
  }

  /** See {@link StorageAdapter}. Concurrent calls share a statement. */
  listJson(user: string, { after, limit }: ListRange): Promise<JsonPage> {
    return this.#run(async ({ group }) => (firstId(after) > maxInt64 ? emptyPage : group.read({ user, after, limit })));
  }

  /** See {@link StorageAdapter}. */
  scan(range: ScanRange): Promise<OwnedPlant[]> {
    return this.#run(({ statements }) => scanPlants(this.#pool, statements.scan, range));
  }

  /**
   * See {@link StorageAdapter}. Resolves when all earlier calls have settled. The pool stays open: the application
   * closes it.
   */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#running === 0) resolve();
    });
    return this.#closing;
  }

  /** Checks that the table exists, and then runs an operation. Once the check has succeeded, it is not repeated. */
  async #run<T>(operation: (table: OpenTable) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    this.#running++;
    try {
      this.#table ??= this.#openTable().catch((error: unknown) => {
        this.#table = undefined;
        throw error;
      });
      return await operation(await this.#table);
    } finally {
      if (--this.#running === 0) this.#onIdle?.();
    }
  }
}
