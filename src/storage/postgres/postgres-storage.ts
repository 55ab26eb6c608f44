import { PlantStoreError } from '../../core/model/errors.ts';
import { checkBooleanOption, checkMethods, checkOptionNames } from '../../boundary/options.ts';
import { idOf } from '../../core/storage-adapter.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { scanPages } from '../../core/page.ts';
import { GroupedPages } from './grouped-pages.ts';
import { readPlants, sqlState, statementRunner } from './statements.ts';
import type { PostgresPool, RunStatement } from './statements.ts';
import { prepareTable, qualifiedName, unsupported } from './table.ts';

// invalid_schema_name, undefined_table and undefined_column.
const missingStates: readonly unknown[] = ['3F000', '42P01', '42703'];

// In a write, invalid_text_representation can only mean that a setting is refused, such as `synchronous_commit`.
const unsupportedWriteStates: readonly unknown[] = [...missingStates, '22P02'];

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
 * Methods reject with `storage_unsupported` if the table is missing, or if the first operation finds other columns,
 * another primary key, another encoding than UTF8, or row-level security that applies to the role. Writes also do so if
 * `synchronous_commit` is `off`, and batches of creates if `array_nulls` is `off`. Lists of a standby are rejected,
 * because they can be outdated. If the connection is lost during a commit, the commit is not retried, and its outcome
 * is unknown.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const store = new PlantStore({ storage: new PostgresStorage({ pool }) });
 */
export class PostgresStorage implements StorageAdapter {
  readonly #prepareTable: () => Promise<void>;
  readonly #runStatement: RunStatement;
  readonly #pages: GroupedPages;
  #prepared: Promise<void> | undefined;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** Checks the options. Does not connect to the database. */
  constructor(options: PostgresStorageOptions) {
    checkOptionNames('PostgresStorage', options, ['pool', 'schema', 'table', 'createTable']);
    const { pool, schema = 'public', table = 'plants', createTable = true } = options;
    checkMethods('pool', 'a pool of connections', pool, ['query']);
    checkBooleanOption('createTable', createTable);
    const name = qualifiedName(schema, table);
    this.#prepareTable = () => prepareTable(pool, name, createTable);
    this.#runStatement = statementRunner(pool, name);
    this.#pages = new GroupedPages(this.#runStatement);
  }

  commit(writes: readonly Write[]): Promise<boolean[]> {
    return this.#run(() => applyWrites(this.#runStatement, writes), unsupportedWriteStates);
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

  async #run<T>(operation: () => Promise<T>, unsupportedStates = missingStates): Promise<T> {
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    this.#running++;
    try {
      await this.#ready();
      return await operation();
    } catch (error) {
      throw unsupportedStates.includes(sqlState(error)) ? unsupported(error) : error;
    } finally {
      if (--this.#running === 0) this.#onIdle?.();
    }
  }

  /** After the first success, the table is never created again: a new table would hide the loss of the plants. */
  #ready(): Promise<void> {
    this.#prepared ??= this.#prepareTable().catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }
}

async function applyWrites(run: RunStatement, writes: readonly Write[]): Promise<boolean[]> {
  const [first] = writes;
  if (first === undefined) return [];
  // Ids are converted to strings, because not every driver can send a bigint.
  if (writes.length === 1) {
    const { rowCount } = await (first.kind === 'create'
      ? run('insertOne', [first.user, String(first.plant.id), first.plant.name, first.plant.tag ?? null])
      : run('deleteOne', [first.user, String(first.id)]));
    return [rowCount === 1];
  }
  // All servers lock rows in the same order, so that deadlocks between servers are rare.
  const sorted = writes.toSorted(byKey);
  const creates = sorted.filter((write) => write.kind === 'create');
  const deletes = sorted.filter((write) => write.kind === 'delete');
  const inserted = [
    creates.map(({ user }) => user),
    creates.map(({ plant }) => String(plant.id)),
    creates.map(({ plant }) => plant.name),
    creates.map(({ plant }) => plant.tag ?? null),
  ];
  const deleted = [deletes.map(({ user }) => user), deletes.map(({ id }) => String(id))];
  let result;
  if (deletes.length === 0) result = await run('insert', inserted);
  else if (creates.length === 0) result = await run('delete', deleted);
  else result = await run('insertAndDelete', [...inserted, ...deleted]);
  const changed = new Set((result.rows as Record<'user' | 'id', string>[]).map(({ user, id }) => `${id} ${user}`));
  return writes.map((write) => changed.has(`${idOf(write)} ${write.user}`));
}

function byKey(a: Write, b: Write): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1;
  return idOf(a) < idOf(b) ? -1 : 1;
}
