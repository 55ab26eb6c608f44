import { PlantStoreError } from '../../core/model/errors.ts';
import { checkBooleanOption, checkOptionNames } from '../../core/model/options.ts';
import { BatchWriter } from './batch.ts';
import { readJsonPages } from './pages.ts';
import type { PostgresPool } from './pool.ts';
import { withPreparedStatements } from './prepared.ts';
import { listPlants, scanPlants } from './rows.ts';
import { statementsFor } from './statements.ts';
import type { PostgresStatements } from './statements.ts';
import { checkTableOptions, prepareTable, quotedTable } from './table.ts';
import type {
  JsonPage,
  ListRange,
  OwnedPlant,
  PageRequest,
  PlantPage,
  ScanRange,
  StorageAdapter,
  Write,
} from '../storage-adapter.ts';

/** Options of a {@link PostgresStorage}. */
export interface PostgresStorageOptions {
  /** The connection pool: a `Pool` from the `pg` package. The application owns the pool and closes it. */
  pool: PostgresPool;
  /**
   * The schema of the table. If the schema is missing, it is created together with the table. By default, the
   * connection's `search_path` determines the schema.
   */
  schema?: string | undefined;
  /** The name of the table; default `plants`. */
  table?: string | undefined;
  /** Whether the first operation creates the table if it is missing; default `true`. */
  createTable?: boolean | undefined;
  /**
   * Whether the statements that read plants are kept prepared on each connection; default `false`. Prepared statements
   * make short lists faster. They require a pool whose `query` accepts an object with `name`, `text` and `values`, such
   * as a `Pool` from `pg`. If a connection pooler rejects prepared statements, they are no longer used.
   */
  preparedStatements?: boolean | undefined;
}

const optionNames = {
  pool: true,
  schema: true,
  table: true,
  createTable: true,
  preparedStatements: true,
} as const satisfies Record<keyof PostgresStorageOptions, true>;

/** The objects that operations use after the table has been checked. */
interface OpenTable {
  readonly statements: PostgresStatements;
  readonly writer: BatchWriter;
}

/**
 * Stores plants in a PostgreSQL database, 14 or newer, through the application's own connection pool. Any number of
 * servers can share a table. The configuration of the database determines how durable a commit is. By default, the
 * commit is on the database's disk and, if there is a synchronous standby, also on the standby's disk.
 *
 * The first operation checks whether the table exists, and creates the table if it is missing. If the connection is
 * lost during a commit, the promise rejects, but the writes may have been committed. Such a commit is never retried
 * automatically.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
 */
export class PostgresStorage implements StorageAdapter {
  /** The pool for statements that read plants. */
  readonly #reads: PostgresPool;
  readonly #openTable: () => Promise<OpenTable>;
  #table: Promise<OpenTable> | undefined;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** Checks the options. Does not connect to the database. */
  constructor(options: PostgresStorageOptions) {
    checkOptionNames('PostgresStorage', options, optionNames);
    const { pool, schema, table = 'plants', createTable = true, preparedStatements = false } = options;
    if (typeof (pool as Partial<PostgresPool> | null | undefined)?.query !== 'function') {
      throw new TypeError('pool must be a pool of connections: it has no query');
    }
    checkBooleanOption('createTable', createTable);
    checkBooleanOption('preparedStatements', preparedStatements);
    const place = { schema, table };
    checkTableOptions(place);
    const reads = preparedStatements ? withPreparedStatements(pool) : pool;
    this.#reads = reads;
    this.#openTable = async () => {
      const userOrder = await prepareTable(pool, place, { table: createTable, schema: createTable });
      const statements = statementsFor(quotedTable(place), userOrder);
      return { statements, writer: new BatchWriter(pool, statements) };
    };
  }

  /**
   * See {@link StorageAdapter}. In PostgreSQL, a commit is one statement and needs one round trip. If a database does
   * not allow a statement to modify a table twice, a commit with both creates and deletes is a transaction of two
   * statements.
   *
   * @throws {PlantStoreError} `storage_unsupported` if the table is missing or does not have the expected columns, or
   *   if the database's encoding is not UTF8; `invalid_plant` if PostgreSQL rejects a value of the batch (SQLSTATE
   *   class 22 or 54), in which case nothing was written.
   */
  commit(writes: readonly Write[]): Promise<boolean[]> {
    return this.#run(({ writer }) => writer.apply(writes));
  }

  /** See {@link StorageAdapter}. */
  list(user: string, range: ListRange): Promise<PlantPage> {
    return this.#run(({ statements }) => listPlants(this.#reads, statements.list, user, range));
  }

  /** See {@link StorageAdapter}. One SQL statement reads all pages, except those with very long names. */
  listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    return this.#run(({ statements }) => readJsonPages(this.#reads, statements, requests));
  }

  /** See {@link StorageAdapter}. */
  scan(range: ScanRange): Promise<OwnedPlant[]> {
    return this.#run(({ statements }) => scanPlants(this.#reads, statements.scan, range));
  }

  /**
   * See {@link StorageAdapter}. The promise resolves when all earlier calls have settled. The pool stays open, because
   * the application closes it.
   */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#running === 0) resolve();
    });
    return this.#closing;
  }

  /** Runs an operation. The first operation checks the table. If this check fails, the next operation repeats it. */
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
