import { callbackify } from 'node:util';
import { isError } from '../boundary/error-text.ts';
import type { StorageAdapter } from '../core/storage-adapter.ts';
import { PostgresStorage } from '../storage/postgres/postgres-storage.ts';
import { sqlState } from '../storage/postgres/pool.ts';
import type { PostgresPool } from '../storage/postgres/pool.ts';
import { isPlantStoreError } from '../core/model/errors.ts';
import { withUsageError, UsageError } from './command-line.ts';
import type { Setting } from './command-line.ts';
import { describeError } from './output/text.ts';
import { loadOptional } from './package.ts';

/** The part of `pg` that this module uses. The types of `pg` might not be installed. */
interface PgModule {
  readonly Client: new (config: object) => PgClient;
  readonly Pool: new (config: object) => PgClient;
}

interface PgClient extends PostgresPool {
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

/**
 * If the database does not respond, requests fail with status 503 after these timeouts. While a commit is pending, all
 * other writes on this server wait, so the query timeout also limits how long a failover can block writes.
 */
const timeouts = { connectionTimeoutMillis: 5000, query_timeout: 10_000 };

/**
 * When `query_timeout` expires, `pg` closes the connection. By default, PostgreSQL does not notice the disconnect while
 * a statement runs or waits for a lock, so abandoned backends would accumulate.
 */
const checkConnection = "SET client_connection_check_interval = '1s'";

export interface PostgresLocation {
  readonly kind: 'postgres';
  /** The host and the database, without secrets. */
  readonly place: string;
  /** The name of the flag or variable with the connection string. */
  readonly source: string;
  /** Without the parameters `max`, `schema` and `table`. */
  readonly connectionString: string;
  readonly max: number;
  readonly schema: string | undefined;
  readonly table: string | undefined;
}

/** `pg` interprets all parameters except `max`, `schema` and `table`. */
export function parseConnectionString({ value: text, source }: Setting): PostgresLocation {
  // With another `@`, `pg` could use a part of the password as the host, and error messages would contain it.
  if (!/^\w+:\/\/([^@/?#]*@)?[^@]*$/.test(text)) {
    const characters = "'@' as %40, '/' as %2F, '?' as %3F, '#' as %23 and '%' as %25";
    throw new UsageError(`${source} must contain only the '@' before the host: in a password, write ${characters}.`);
  }
  const [, base = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  const max = parameters.get('max') ?? '10';
  if (!/^[1-9]\d*$/.test(max)) throw new UsageError(`max in ${source} must be an integer from 1.`);
  const [schema, table] = ['schema', 'table'].map((name) => parameters.get(name) ?? undefined);
  for (const name of ['max', 'schema', 'table']) parameters.delete(name);
  const connectionString = parameters.size === 0 ? base : `${base}?${parameters.toString()}`;
  // `pg` also accepts strings that are not valid URLs, such as `postgres://ada@/garden?host=/run/postgresql`.
  const url = URL.parse(base);
  const place = `PostgreSQL at ${parameters.get('host') ?? url?.host ?? '?'}${url?.pathname ?? ''}`;
  return { kind: 'postgres', place, source, connectionString, max: Number(max), schema, table };
}

/** Does not connect to the database before the first operation. */
export function openPostgres(location: PostgresLocation, createTable: boolean): StorageAdapter {
  const { source, connectionString, max, schema, table } = location;
  const { Client, Pool } = loadOptional('pg', source, (require) => require('pg') as PgModule);
  // `pg` calls this function for each new connection, and closes the connection if the function fails. If the database
  // rejects `client_connection_check_interval`, the connection is used without it.
  const verify = callbackify(async (client: PgClient) => {
    // The pool listens for errors only after this function has finished.
    client.on('error', () => undefined);
    await client.query({ text: checkConnection, values: [] }).catch((error: unknown) => {
      // Only errors from the database have a severity. Any other error means that the connection failed or timed out.
      if (!(isError(error) && 'severity' in error)) throw error;
    });
  });
  const config = { connectionString, max, ...timeouts, keepAlive: true, verify };
  // This client only validates the connection string, which a pool does not parse until it connects.
  withUsageError(source, () => new Client(config));
  const pool = new Pool(config);
  // Without a listener, an error on an idle connection would end the process. The pool replaces that connection.
  pool.on('error', () => undefined);
  const storage = withUsageError(source, () => new PostgresStorage({ pool, schema, table, createTable }));
  const closeStorage = storage.close.bind(storage);
  let closing: Promise<void> | undefined;
  return Object.assign(storage, { close: () => (closing ??= closeStorage().then(() => pool.end())) });
}

const wrongSettingCodes: ReadonlySet<string | undefined> = new Set([
  // SQLSTATEs: a role that may not log in, a wrong password, a missing database, schema or table, a missing privilege,
  // and an unknown or invalid parameter in `options`.
  ...['28000', '28P01', '3D000', '3F000', '42P01', '42501', '42704', '22023'],
  // Codes of Node.js for a certificate that `sslmode`, `sslrootcert` or the host name does not allow.
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);

/** Errors of `pg` that have no code. */
const wrongSettingMessage = /client password must be a string|server does not support SSL/;

/**
 * Describes an error of the storage that only a changed setting or database can repair. Returns `undefined` for any
 * other error, for example if the database cannot be reached or is a standby.
 */
export function wrongSetting(error: unknown): string | undefined {
  if (isPlantStoreError(error) && error.code === 'storage_unsupported') return describeError(error);
  if (typeof error !== 'object' || error === null) return undefined;
  const { message, cause } = error as { message?: unknown; cause?: unknown };
  if (wrongSettingCodes.has(sqlState(error)) || wrongSettingMessage.test(String(message))) return describeError(error);
  return wrongSetting(cause);
}
