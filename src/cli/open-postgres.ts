import { PostgresStorage } from '../storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../storage/postgres/pool.ts';
import type { PostgresStorageOptions } from '../storage/postgres/postgres-storage.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { parsePostgresParameters } from './postgres-parameters.ts';

/** What is used of the package `pg`. Its own types are not there where it is not installed. */
interface PgModule {
  readonly Client: new (config: object) => unknown;
  readonly Pool: new (config: object) => ClosablePool;
}

interface ClosablePool extends PostgresPool {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** A database that does not answer is a 503 after these, not a request that never ends. */
const connectTimeoutMs = 5000;
const queryTimeoutMs = 30_000;

/**
 * Opens a storage in the database that a connection string of `pg` names, over a pool of its own,
 * which is closed with it. Its parameter `max` is the size of the pool, `schema` and `table` are
 * where the plants are. Connects to nothing yet.
 *
 * @throws {UsageError} if `pg` is not installed, or if the text is not a connection string or has
 *   parameters that are not supported. The text is never repeated, for the password in it.
 */
export async function openPostgres({ text, source }: Setting): Promise<StorageAdapter> {
  const { Client, Pool } = await importPg();
  const { connectionString, max, schema, table } = parsePostgresParameters(text, source);
  const config = {
    connectionString,
    max,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
  };
  try {
    // A pool would not read the connection string before it connects.
    new Client(config);
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${source} is not a connection string that pg takes: ${message.replaceAll(connectionString, '…')}.`);
  }
  const pool = new Pool(config);
  // The pool has dropped the connection by then, and opens another when it needs one.
  pool.on('error', () => undefined);
  return new PoolStorage({ pool, schema, table });
}

/** Closes the pool that was opened for it. */
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
  // In a variable, so that nothing looks for the package, or its types, where nobody needs it.
  const name = 'pg';
  try {
    // Older versions are CommonJS, whose names only the default export is sure to have.
    return ((await import(name)) as { default: PgModule }).default;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError('postgres:// storage needs the package pg: npm install pg', { cause: error });
  }
}
