import { PlantStoreError } from '../../core/model/errors.ts';
import { checkBooleanOption, checkOptionNames } from '../../core/model/options.ts';
import { minInt64 } from '../../core/model/int64.ts';
import { maxPageLength } from '../../core/page.ts';
import type { JsonPage, PageRequest } from '../../core/page.ts';
import { applyBatch } from './batch.ts';
import { readJsonPages } from './pages.ts';
import { sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import { withPreparedStatements } from './prepared.ts';
import { listPlants, readPlants } from './rows.ts';
import { statementsFor } from './statements.ts';
import type { PostgresStatements } from './statements.ts';
import { checkTableOptions, prepareTable, quotedTable } from './table.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';

/** Options of a {@link PostgresStorage}. */
export interface PostgresStorageOptions {
  /** The connection pool: a `Pool` from the `pg` package. The application owns the pool and closes it. */
  pool: PostgresPool;
  /**
   * The table's schema. If the schema does not exist, it is created together with the table. By default, the
   * connection's `search_path` determines the schema.
   */
  schema?: string | undefined;
  /** The name of the table; default `plants`. */
  table?: string | undefined;
  /** Whether the first operation creates a missing table; default `true`. */
  createTable?: boolean | undefined;
}

const optionNames = {
  pool: true,
  schema: true,
  table: true,
  createTable: true,
} as const satisfies Record<keyof PostgresStorageOptions, true>;

/**
 * Stores plants in a PostgreSQL database (PostgreSQL 14 or newer) through the application's connection pool. Any number
 * of servers can share a table. The database's configuration determines how durable a commit is. By default, a commit
 * is on the disk of the database server and, if there is a synchronous standby, also on the standby's disk.
 *
 * The first operation creates the table if it does not exist. If the connection is lost during a commit, the promise
 * rejects, but the writes might have been committed. A commit whose connection is lost is never retried automatically.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
 */
export class PostgresStorage implements StorageAdapter {
  readonly #pool: PostgresPool;
  readonly #openTable: () => Promise<PostgresStatements>;
  /** The statements for the table; `undefined` if the table must be checked first. */
  #statements: Promise<PostgresStatements> | undefined;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** Checks the options. Does not connect to the database. */
  constructor(options: PostgresStorageOptions) {
    checkOptionNames('PostgresStorage', options, optionNames);
    const { pool, schema, table = 'plants', createTable = true } = options;
    if (typeof (pool as Partial<PostgresPool> | null | undefined)?.query !== 'function') {
      throw new TypeError('pool must be a pool of connections: it has no query');
    }
    checkBooleanOption('createTable', createTable);
    const place = { schema, table };
    checkTableOptions(place);
    this.#pool = withPreparedStatements(pool, quotedTable(place));
    let creation = { table: createTable, schema: createTable };
    this.#openTable = async () => {
      const userOrder = await prepareTable(pool, place, creation);
      // A table that is dropped or renamed later is not created again, because a new table would hide the fact that the
      // plants are missing.
      creation = { table: false, schema: false };
      return statementsFor(quotedTable(place), userOrder);
    };
  }

  /**
   * See {@link StorageAdapter}. In PostgreSQL, a commit is one statement and requires one round trip.
   *
   * @throws {PlantStoreError} `storage_unsupported` if the table does not exist or cannot store plants, or if the
   *   database's encoding is not UTF8; `invalid_plant` if PostgreSQL rejects a plant in the batch (SQLSTATE class 22,
   *   23 or 54), in which case nothing was written.
   */
  commit(writes: readonly Write[]): Promise<boolean[]> {
    return this.#run((statements) => applyBatch(this.#pool, statements, writes));
  }

  /** See {@link StorageAdapter}. */
  list(user: string, range: ListRange): Promise<PlantPage> {
    return this.#run(({ list }) => listPlants(this.#pool, list, user, range));
  }

  /** @internal See `JsonPageReader`. One SQL statement reads all pages, except pages with very long names. */
  listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    return this.#run((statements) => readJsonPages(this.#pool, statements, requests));
  }

  /** See {@link StorageAdapter}. */
  async *scan(): AsyncIterable<OwnedPlant[]> {
    // Every user is greater than ''.
    let after = { user: '', id: minInt64 };
    for (;;) {
      const { owned } = await this.#run(({ scan }) => readPlants(this.#pool, scan, after, maxPageLength));
      const last = owned.at(-1);
      if (last === undefined) return;
      yield owned;
      after = { user: last.user, id: last.plant.id };
    }
  }

  /**
   * See {@link StorageAdapter}. The promise resolves when all earlier calls have settled. The pool stays open, because
   * the application owns the pool.
   */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#running === 0) resolve();
    });
    return this.#closing;
  }

  /**
   * Runs an operation. The first operation checks the table. If this check fails, or if a statement fails because the
   * table has changed, the next operation repeats the check.
   */
  async #run<T>(operation: (statements: PostgresStatements) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    this.#running++;
    try {
      this.#statements ??= this.#openTable().catch((error: unknown) => {
        this.#statements = undefined;
        throw error;
      });
      return await operation(await this.#statements);
    } catch (error) {
      // Class 42: syntax error or access rule violation, for example because the table was dropped or renamed.
      if (sqlState(error)?.startsWith('42') === true) this.#statements = undefined;
      throw error;
    } finally {
      if (--this.#running === 0) this.#onIdle?.();
    }
  }
}
