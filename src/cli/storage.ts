import { callbackify } from 'node:util';
import type * as Pg from 'pg';
import { isError } from '../boundary/error-text.ts';
import type { StorageAdapter } from '../core/storage-adapter.ts';
import { isFileOrMissing } from '../files/file.ts';
import { MemoryStorage } from '../storage/memory/memory-storage.ts';
import { PostgresStorage } from '../storage/postgres/postgres-storage.ts';
import { openToRead } from '../storage/sqlite/database.ts';
import { SqliteStorage } from '../storage/sqlite/sqlite-storage.ts';
import { isFileName, loadOptional } from './command-line.ts';
import type { Setting } from './command-line.ts';
import { UsageError, withUsageError } from './errors.ts';
import { printable } from './process.ts';
import { requireSafePath } from './refuse-root.ts';

/** A parsed storage setting. `place` is the path of an SQLite file, or describes the storage without a password. */
export type StorageLocation =
  | { readonly kind: 'memory'; readonly place: string }
  | { readonly kind: 'sqlite'; readonly place: string; readonly commitThread: boolean }
  | PostgresLocation;

interface PostgresLocation {
  readonly kind: 'postgres';
  readonly place: string;
  readonly source: string;
  readonly connectionString: string;
  readonly max: number;
  readonly schema: string | undefined;
  readonly table: string | undefined;
}

type Kind = StorageLocation['kind'];

const forms: Readonly<Record<Kind, string>> = {
  sqlite: 'sqlite:FILE[?commitThread=true]',
  postgres: 'postgres://USER:PASSWORD@HOST/DATABASE',
  memory: 'memory',
};

export function parseStorage(setting: Setting, kinds: readonly Kind[] = ['sqlite', 'postgres']): StorageLocation {
  const { value, source } = setting;
  const location = parse(setting);
  if (location !== undefined && kinds.includes(location.kind)) return location;
  let advice = isFileName(value) ? `: write sqlite:${value}` : '';
  if (location?.kind === 'postgres') advice = ': for PostgreSQL, use pg_dump and pg_restore';
  throw new UsageError(`${source} must be ${kinds.map((kind) => forms[kind]).join(' or ')}${advice}.`);
}

function parse(setting: Setting): StorageLocation | undefined {
  const { value: text } = setting;
  if (text === 'memory') return { kind: 'memory', place: 'memory, until the server stops' };
  if (/^postgres(?:ql)?:\/\//.test(text)) return parseConnectionString(setting);
  // `sqlite:///FILE` is refused: some programs read it as a relative path, others as an absolute one.
  const [, file, thread] = /^sqlite:(?!\/\/|:memory:$)([^?]+)(?:\?commitThread=(true|false))?$/s.exec(text) ?? [];
  return file === undefined
    ? undefined
    : { kind: 'sqlite', place: requireSafePath(file), commitThread: thread === 'true' };
}

/** The integer parameters and their maximums. Node.js and PostgreSQL store times as int32. */
const integers: Readonly<Record<string, number>> = {
  max: 2_147_483_647,
  port: 65_535,
  query_timeout: 2_147_483_647,
  statement_timeout: 2_147_483_647,
  lock_timeout: 2_147_483_647,
  idle_in_transaction_session_timeout: 2_147_483_647,
};
const tlsModes = ['disable', 'no-verify', 'verify-full'];
/** `pg` treats these modes as `verify-full`, and prints a warning. */
const tlsAliases: readonly unknown[] = ['prefer', 'require', 'verify-ca'];
const parameterNames = [
  ...['application_name', 'host', 'options', 'password', 'schema', 'table', 'user', ...Object.keys(integers)],
  ...['sslcert', 'sslkey', 'sslmode', 'sslnegotiation', 'sslrootcert'],
];

function parseConnectionString({ value: text, source }: Setting): PostgresLocation {
  const match = /^(\w+:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([^@?#]*)\??([^@#]*)[^@]*$/.exec(text);
  // With another `@`, `pg` could use a part of the password as the host, and error messages would contain it.
  if (match === null) {
    const characters = "'@' as %40, '/' as %2F, '?' as %3F, '#' as %23 and '%' as %25";
    throw new UsageError(`${source} must contain only the '@' before the host: in a password, write ${characters}.`);
  }
  const [, login = '', authority = '', path = '', query] = match;
  const parameters = new URLSearchParams(query);
  checkParameters(parameters, source);
  // PostgreSQL supports U+0000 in no setting.
  if (text.includes('%00')) throw new UsageError(`${source} must not contain %00.`);
  const [, port] = /:([^:\]]+)$/.exec(authority) ?? [];
  if (port !== undefined && !isIntegerUpTo(port, 65_535)) {
    throw new UsageError(`The port of ${source} must be an integer from 1 to 65535.`);
  }
  const host = parameters.get('host') ?? authority;
  if (host.includes(',')) throw new UsageError(`${source} must name one host: several hosts are not supported.`);
  const { max = '10', schema, table, ...others } = Object.fromEntries(parameters);
  // `pg` interprets the other parameters.
  const connectionString = `${login}${authority}${path}?${new URLSearchParams(others).toString()}`;
  const place = `PostgreSQL at ${host}${path}`;
  return { kind: 'postgres', place, source, connectionString, max: Number(max), schema, table };
}

function isIntegerUpTo(text: string, max: number): boolean {
  return /^[1-9]\d*$/.test(text) && Number(text) <= max;
}

/** `pg` ignores unknown parameters, and does not reject invalid numbers. */
function checkParameters(parameters: URLSearchParams, source: string): void {
  for (const [name, value] of parameters) {
    const max = integers[name];
    let problem;
    if (!parameterNames.includes(name)) problem = `is not supported. Use ${parameterNames.join(', ')}`;
    else if (parameters.getAll(name).length > 1) problem = 'must not be repeated';
    else if (max !== undefined && !isIntegerUpTo(value, max)) problem = `must be an integer from 1 to ${max}`;
    else if (name === 'sslmode' && ![...tlsModes, ...tlsAliases].includes(value)) {
      problem = `must be one of ${tlsModes.join(', ')}`;
    } else if (name === 'sslrootcert' && value === 'system') {
      problem = 'must be a file. Without it, the CAs of Node.js are used';
    } else if (/^ssl(?:cert|key|rootcert)$/.test(name) && !isFileOrMissing(value)) {
      problem = 'must be a file';
    }
    if (problem !== undefined) throw new UsageError(`The parameter ${printable(name)} of ${source} ${problem}.`);
  }
  if (tlsAliases.includes(parameters.get('sslmode'))) parameters.set('sslmode', 'verify-full');
}

/** If `create` is true, creates a missing SQLite file, and the first operation creates a missing PostgreSQL table. */
export function openStorage(location: StorageLocation, create = true): StorageAdapter {
  if (location.kind === 'memory') return new MemoryStorage();
  if (location.kind === 'postgres') return openPostgres(location, create);
  if (!create) openToRead(location.place).close();
  return new SqliteStorage(location.place, { commitThread: location.commitThread });
}

/** While a commit is pending, all other writes wait, so the query timeout limits how long a failover blocks writes. */
const timeouts = { connectionTimeoutMillis: 5000, query_timeout: 10_000 };

/** By default, a backend whose statement waits for a lock does not notice that `pg` has closed the connection. */
const checkConnection = "SET client_connection_check_interval = '1s'";

/** Does not connect to the database before the first operation. */
function openPostgres(location: PostgresLocation, createTable: boolean): StorageAdapter {
  const { source, connectionString, max, schema, table } = location;
  const { Client, Pool } = loadOptional('pg', source) as typeof Pg;
  // `pg` closes a new connection if this function fails.
  const verify = callbackify(async (client: Pg.PoolClient) => {
    // The pool listens for errors only after this function has finished.
    client.on('error', () => undefined);
    await client.query({ text: checkConnection, values: [] }).catch((error: unknown) => {
      // A database that does not support the setting responds with an error, which has a `severity`.
      if (!(isError(error) && 'severity' in error)) throw error;
    });
  });
  const config = { connectionString, max, ...timeouts, keepAlive: true, verify };
  const pool = new Pool(config);
  // Without a listener, an error on an idle connection would end the process. The pool replaces that connection.
  pool.on('error', () => undefined);
  const storage = withUsageError(source, () => {
    // This client only validates the connection string, which a pool does not parse until it connects.
    const { port } = new Client(config);
    // With such a port, `pg` throws an error instead of connecting, and the pool loses a connection.
    if (!isIntegerUpTo(String(port), 65_535)) throw new Error('PGPORT must be an integer from 1 to 65535');
    return new PostgresStorage({ pool, schema, table, createTable });
  });
  const closeStorage = storage.close.bind(storage);
  // If `pg` has thrown an error instead of connecting, the promise of `end` never settles.
  const endPool = (): void => {
    if (!pool.ending) void pool.end();
  };
  return Object.assign(storage, { close: () => closeStorage().then(endPool) });
}
