import { PlantStoreError } from '../../core/model/errors.ts';
import { checkBooleanOption, checkMethods, checkOptionNames } from '../../boundary/options.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { scanPages } from '../../core/scan-pages.ts';
import { GroupedPages } from './grouped-pages.ts';
import type { PostgresPool } from './pool.ts';
import { readPlants, statementRunner } from './run-statement.ts';
import type { RunStatement } from './run-statement.ts';
import { PlantTable, quotedTable } from './table.ts';
import { applyWrites } from './writes.ts';

/** Options of a {@link PostgresStorage}. */
export interface PostgresStorageOptions {
  /** The connection pool: a `Pool` from the `pg` package. The application owns the pool and closes it. */
  pool: PostgresPool;
  /** The table's schema, which must exist; default `public`. The `search_path` has no effect. */
  schema?: string | undefined;
  /** The name of the table; default `plants`. */
  table?: string | undefined;
  /**
   * Whether the first operation creates the table if it does not exist; default `true`. If `true`, an existing table is
   * used only if its owner is a superuser or a role that the connection's role is a member of.
   */
  createTable?: boolean | undefined;
}

/**
 * Stores plants in a PostgreSQL database (PostgreSQL 14 or newer) through the application's connection pool. Any number
 * of servers can share a table. `synchronous_commit` determines how durable a commit is. By default, a commit is on the
 * disk of the database server and, if there is a synchronous standby, also on the standby's disk.
 *
 * Methods reject with `storage_unsupported` if the table is missing or is not as this class creates it, if the encoding
 * of the database is not UTF8, or if `synchronous_commit` is `off`. Lists of a standby are rejected, because they can
 * be outdated. If the connection is lost during a commit, the commit is not retried, and its outcome is unknown.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
 */
export class PostgresStorage implements StorageAdapter {
  readonly #table: PlantTable;
  readonly #runStatement: RunStatement;
  readonly #pages: GroupedPages;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** Checks the options. Does not connect to the database. */
  constructor(options: PostgresStorageOptions) {
    checkOptionNames('PostgresStorage', options, ['pool', 'schema', 'table', 'createTable']);
    const { pool, schema = 'public', table = 'plants', createTable = true } = options;
    checkMethods('pool', 'a pool of connections', pool, ['query']);
    checkBooleanOption('createTable', createTable);
    const name = quotedTable(schema, table);
    this.#table = new PlantTable(pool, name, createTable);
    this.#runStatement = statementRunner(pool, name, this.#table);
    this.#pages = new GroupedPages(this.#runStatement);
  }

  commit(writes: readonly Write[]): Promise<boolean[]> {
    return this.#run(() => applyWrites(this.#runStatement, writes));
  }

  list(user: string, range: ListRange): Promise<PlantPage> {
    return this.#run(() => this.#pages.read(user, range));
  }

  scan(): AsyncIterable<OwnedPlant[]> {
    return scanPages((user, after) => this.#run(() => readPlants(this.#runStatement, 'scan', [user, String(after)])));
  }

  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#running === 0) resolve();
    });
    return this.#closing;
  }

  async #run<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    this.#running++;
    try {
      await this.#table.ready();
      return await operation();
    } catch (error) {
      // The table may have been dropped or renamed, or the pool may have connected to another database.
      this.#table.checkAgain();
      throw error;
    } finally {
      if (--this.#running === 0) this.#onIdle?.();
    }
  }
}
