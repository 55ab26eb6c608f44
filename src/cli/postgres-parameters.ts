import { checkTableOptions } from '../storage/postgres/table.ts';
import { UsageError } from './command.ts';

/** The connection string parameters that `pg` supports, as of pg 8.23 and pg-connection-string 2.14. */
const pgParameters: ReadonlySet<string> = new Set([
  'user',
  'password',
  'host',
  'port',
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslnegotiation',
  'uselibpqcompat',
  'application_name',
  'fallback_application_name',
  'options',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
]);

const ownParameters: ReadonlySet<string> = new Set(['max', 'schema', 'table']);
const defaultPoolSize = 10;

/** A parsed connection string. */
export interface PostgresParameters {
  /** The connection string for `pg`, without Plant Store's own parameters. */
  readonly connectionString: string;
  /** The size of the pool. */
  readonly max: number;
  readonly schema: string | undefined;
  readonly table: string | undefined;
}

/**
 * Extracts Plant Store's own parameters from a connection string. `source` is the flag or variable that set it.
 *
 * @throws {UsageError} if a parameter is unknown or repeated, or if `max`, `schema` or `table` is invalid.
 *   The message contains no value, and no name that may be part of a password.
 */
export function parsePostgresParameters(text: string, source: string): PostgresParameters {
  // A fragment is never sent to a server.
  const [url = ''] = text.split('#', 1);
  const queryAt = url.indexOf('?');
  const query = queryAt === -1 ? '' : url.slice(queryAt + 1);
  const pairs = query.split('&').filter((pair) => pair !== '');
  const values = new Map<string, string>();
  const forPg: string[] = [];
  for (const pair of pairs) {
    const [[name, value] = ['', '']] = new URLSearchParams(pair);
    // If a password contains an unescaped '?', the query contains the rest of the password and the '@'.
    const shown = /^\w{1,63}$/.test(name) && !query.includes('@') ? `the parameter '${name}'` : 'a parameter';
    if (!pgParameters.has(name) && !ownParameters.has(name)) throw unknownParameter(source, shown);
    if (values.has(name)) throw new UsageError(`${name} must not be given twice in ${source}.`);
    values.set(name, value);
    if (!ownParameters.has(name)) forPg.push(pair);
  }
  const [schema, table] = [values.get('schema'), values.get('table')];
  checkNames({ schema, table }, source);
  const base = queryAt === -1 ? url : url.slice(0, queryAt);
  return {
    connectionString: forPg.length === 0 ? base : `${base}?${forPg.join('&')}`,
    max: poolSize(values.get('max'), source),
    schema,
    table,
  };
}

function unknownParameter(source: string, shown: string): UsageError {
  const known = [...ownParameters, ...pgParameters].join(', ');
  return new UsageError(`${source} has ${shown} that is not one of ${known}.`);
}

function checkNames({ schema, table = 'plants' }: Pick<PostgresParameters, 'schema' | 'table'>, source: string): void {
  try {
    checkTableOptions({ schema, table });
  } catch (error) {
    const [name] = (error as TypeError).message.split(' ', 1);
    throw new UsageError(`${name ?? ''} in ${source} must be a name of 1 to 63 bytes.`, { cause: error });
  }
}

function poolSize(text: string | undefined, source: string): number {
  if (text === undefined) return defaultPoolSize;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError(`max in ${source} must be 1 to 9999.`);
  return Number(text);
}
