import { PostgresStorage } from '../storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../storage/postgres/pool.ts';
import type { PostgresStorageOptions } from '../storage/postgres/postgres-storage.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { parsePostgresParameters } from './postgres-parameters.ts';

/**
 * The part of the `pg` package that this module uses. The types of `pg` itself are available only if it is installed.
 */
interface PgModule {
  readonly Client: new (config: object) => unknown;
  readonly Pool: new (config: object) => ClosablePool;
}

interface ClosablePool extends PostgresPool {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/**
 * If the database does not respond, requests fail with status 503 after these timeouts. Without the timeouts, the
 * requests would never end. All other writes of the server wait while a commit is pending, so the query timeout also
 * limits how long a failover can block them.
 */
const connectTimeoutMs = 5000;
const queryTimeoutMs = 10_000;

/**
 * Opens a storage adapter for the database of a `pg` connection string. The adapter has its own connection pool, and
 * closing the adapter also closes the pool. In the connection string, the `max` parameter sets the pool size, and the
 * `schema` and `table` parameters select the table. Does not connect to the database yet.
 *
 * @throws {UsageError} if `pg` is not installed, or if the setting is not a connection string or has unsupported
 *   parameters. The message never contains the setting, which may include a password.
 */
export async function openPostgres({ text, source }: Setting): Promise<StorageAdapter> {
  const { Client, Pool } = await importPg();
  const { connectionString, max, enableChannelBinding, ...options } = parsePostgresParameters(text, source);
  const config = {
    connectionString,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    enableChannelBinding,
    keepAlive: true,
  };
  try {
    // This client is created only to validate the connection string. A pool does not parse the connection string until
    // the pool connects.
    new Client(config);
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(
      `${source} is not a connection string that pg accepts: ${message.replaceAll(connectionString, '…')}.`,
    );
  }
  const pool = new Pool(config);
  // Without a listener, the error of an idle connection would end the process. The pool has already removed that
  // connection, and opens a new one when needed.
  pool.on('error', () => undefined);
  return new PoolStorage({ pool, ...options });
}

/** A PostgreSQL storage adapter whose `close` also closes the connection pool. */
class PoolStorage extends PostgresStorage {
  readonly #pool: ClosablePool;
  #ended: Promise<void> | undefined;

  constructor(options: PostgresStorageOptions & { pool: ClosablePool }) {
    super(options);
    this.#pool = options.pool;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#ended ??= this.#pool.end();
    await this.#ended;
  }
}

async function importPg(): Promise<PgModule> {
  // The import specifier is a variable, so that compilers and bundlers do not require the package or its types.
  const name = 'pg';
  try {
    // Older versions of `pg` are CommonJS modules. Only the default export is guaranteed to contain all exports.
    return ((await import(name)) as { default: PgModule }).default;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError('postgres:// storage needs the package pg: npm install pg', { cause: error });
  }
}
