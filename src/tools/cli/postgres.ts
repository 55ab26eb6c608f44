import { callbackify } from 'node:util';
import { PostgresStorage } from '../../storage/postgres/postgres-storage.ts';
import type { PostgresPool } from '../../storage/postgres/pool.ts';
import { prepareTable } from '../../storage/postgres/table.ts';
import type { StorageAdapter } from '../../core/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { parsePostgresParameters } from './postgres-parameters.ts';

/** The part of `pg` that this module uses. The types of `pg` are available only if the package is installed. */
interface PgModule {
  readonly Client: new (config: object) => unknown;
  readonly Pool: new (config: object) => PgPool;
}

interface PgClient extends PostgresPool {
  /** The process id of the backend, as the server reported it when the client connected. */
  readonly processID: number;
  on(event: 'error', listener: () => void): unknown;
}

interface PgPool extends PostgresPool {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** Options for opening a storage whose file or table might not exist. */
export interface OpenOptions {
  /** Whether to create the file or the table. */
  readonly createIfMissing: boolean;
  /** Called when a PostgreSQL table has been created, with the table's quoted name. */
  readonly onNewTable?: ((table: string) => void) | undefined;
}

/**
 * If the database does not respond, requests fail with status 503 after these timeouts. Without the timeouts, the
 * requests would never end. While a commit is pending, all other writes on this server wait. The query timeout
 * therefore also limits how long a failover can block these writes.
 */
const timeouts = { connectionTimeoutMillis: 5000, query_timeout: 10_000 };

/**
 * Limits how long a backend continues to run after `query_timeout`. When this timeout expires, `pg` closes the
 * connection, but PostgreSQL does not notice the disconnect while a statement runs or waits for a lock. Without these
 * settings, each timeout would leave a backend running.
 *
 * The settings are applied only to direct connections, because a connection pooler in transaction mode would also apply
 * them to its other clients. A pooler is recognized by the process id that it reports, which differs from the backend's
 * process id.
 */
const limitBackend = `SELECT set_config('client_connection_check_interval', '1000', false),
    set_config('lock_timeout', CASE current_setting('lock_timeout') WHEN '0' THEN $2 ELSE current_setting('lock_timeout') END, false)
  WHERE pg_backend_pid() = $1::integer`;

/**
 * Opens a storage adapter for the database that a `pg` connection string names. The adapter has its own connection
 * pool, and closing the adapter also closes the pool. In the connection string, the `max` parameter sets the pool size,
 * and the `schema` and `table` parameters select the table. Does not connect to the database before the first
 * operation. If `createIfMissing` is true, the first operation creates the table if it does not exist. A schema is
 * never created, because this would hide a mistyped name.
 *
 * @throws {UsageError} if `pg` is not installed, or if the setting is not a connection string or has unsupported
 *   parameters. The message never contains the setting, which may include a password.
 */
export async function openPostgres(
  { text, source }: Setting,
  { createIfMissing, onNewTable }: OpenOptions,
): Promise<StorageAdapter> {
  const { Client, Pool } = await importPg();
  const { schema, table, queryTimeoutMs, ...connection } = parsePostgresParameters(text, source);
  // A statement stops waiting for a lock before `query_timeout`, so that its connection remains usable.
  const lockTimeoutMs = Math.ceil(0.8 * (queryTimeoutMs ?? timeouts.query_timeout));
  // `pg` calls this function for each new connection, and closes the connection if the function fails. If the database
  // rejects the settings, the connection is used without them.
  const verify = callbackify(async (client: PgClient) => {
    // The pool does not listen for errors until this function has finished. Without this listener, a lost connection
    // would end the process.
    client.on('error', () => undefined);
    await client.query({ text: limitBackend, values: [client.processID, lockTimeoutMs] }).catch((error: unknown) => {
      // Only errors from the database have a severity. Any other error means that the connection failed or timed out.
      if (!(error instanceof Error && 'severity' in error)) throw error;
    });
  });
  const config = { ...connection, ...timeouts, keepAlive: true, verify };
  try {
    // This client is created only to validate the connection string. A pool does not parse its connection string until
    // it connects.
    new Client(config);
  } catch (error) {
    const message = (error as Error).message.replaceAll(connection.connectionString, '…');
    throw new UsageError(`${source} is not a connection string that pg accepts: ${message}.`);
  }
  const pool = new Pool(config);
  // Without a listener, an error on an idle connection would end the process. The pool has already removed that
  // connection, and opens a new connection when needed.
  pool.on('error', () => undefined);
  const creation = { createTable: createIfMissing, onNewTable };
  const checkedPool = checkFirst(pool, () => prepareTable(pool, { schema, table }, creation));
  const storage = new PostgresStorage({ pool: checkedPool, schema, table, createTable: false });
  const closeStorage = storage.close.bind(storage);
  let closed: Promise<void> | undefined;
  return Object.assign(storage, { close: () => (closed ??= closeStorage().then(() => pool.end())) });
}

/** Returns a pool that runs a check before each statement until the check succeeds. */
function checkFirst(pool: PgPool, check: () => Promise<unknown>): PostgresPool {
  let checked: Promise<unknown> | undefined;
  return {
    async query(statement) {
      checked ??= check().catch((error: unknown) => {
        checked = undefined;
        throw error;
      });
      await checked;
      return pool.query(statement);
    },
  };
}

async function importPg(): Promise<PgModule> {
  // The import specifier is a variable, so that compilers and bundlers do not require the package or its types.
  const name = 'pg';
  try {
    // Older versions of `pg` are CommonJS modules, for which only the default export is guaranteed to contain all
    // exports.
    return ((await import(name)) as { default: PgModule }).default;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError('postgres:// storage needs the package pg: npm install pg', { cause: error });
  }
}
