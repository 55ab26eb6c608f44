import { PostgresStorage } from '../storage/postgres.ts';
import type { PostgresPool } from '../storage/postgres.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';

/** What is used of the package `pg`. Its own types are not there where it is not installed. */
interface PgModule {
  readonly Client: new (config: object) => unknown;
  readonly Pool: new (config: object) => ClosablePool;
}

interface ClosablePool extends PostgresPool {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

const defaultPoolSize = 10;
/** A database that does not answer is a 503 after these, not a request that never ends. */
const connectTimeoutMs = 5000;
const queryTimeoutMs = 30_000;

/**
 * Opens a storage in the database that a connection string of `pg` names, over a pool of its own,
 * which is closed with it. The parameter `max` is the size of the pool. Connects to nothing yet.
 *
 * @throws {UsageError} where `pg` is not installed, or where it is no connection string; that is never repeated, for the
 *   password in it.
 */
export async function openPostgres({ text: connectionString, source }: Setting): Promise<StorageAdapter> {
  const { Client, Pool } = await importPg();
  const config = {
    connectionString,
    max: poolSize(connectionString, source),
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
  return new PoolStorage(pool);
}

/** Closes the pool that was opened for it. */
class PoolStorage extends PostgresStorage {
  readonly #pool: ClosablePool;
  #ended: Promise<void> | undefined;

  constructor(pool: ClosablePool) {
    super({ pool });
    this.#pool = pool;
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

function poolSize(connectionString: string, source: string): number {
  const queryAt = connectionString.indexOf('?');
  const text = queryAt === -1 ? null : new URLSearchParams(connectionString.slice(queryAt)).get('max');
  if (text === null) return defaultPoolSize;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(`max in ${source} must be 1 to 9999.`);
  return Number(text);
}
