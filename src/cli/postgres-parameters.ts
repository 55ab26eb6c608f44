import { checkTableOptions } from '../storage/postgres/table.ts';
import { UsageError } from './command.ts';

/** The allowed values of a parameter: any text (`undefined`), the items of a list, or the integers of a range. */
type Rule = undefined | readonly string[] | { readonly from: number; readonly to: number };

const milliseconds: Rule = { from: 0, to: 2_147_483_647 };

/**
 * The parameters that `pg` supports, as of pg 8.23 and pg-connection-string 2.14. Their values are checked in this
 * module, because `pg` does not check most of them.
 */
const pgParameters: Readonly<Record<string, Rule>> = {
  user: undefined,
  password: undefined,
  host: undefined,
  port: { from: 1, to: 65_535 },
  ssl: ['true', '1', '0', 'no-verify'],
  sslmode: ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  sslcert: undefined,
  sslkey: undefined,
  sslrootcert: undefined,
  sslnegotiation: ['postgres', 'direct'],
  uselibpqcompat: ['true', 'false'],
  application_name: undefined,
  fallback_application_name: undefined,
  options: undefined,
  statement_timeout: milliseconds,
  lock_timeout: milliseconds,
  idle_in_transaction_session_timeout: milliseconds,
  // If this value were 0, every query would time out immediately.
  query_timeout: { from: 1, to: 2_147_483_647 },
};

const ownParameters: Readonly<Record<string, Rule>> = {
  max: { from: 1, to: 9999 },
  schema: undefined,
  table: undefined,
  preparedStatements: ['true', 'false'],
  // `pg` supports channel binding, but does not read this setting from a connection string.
  channel_binding: ['disable', 'prefer', 'require'],
};

const rules = new Map(Object.entries({ ...ownParameters, ...pgParameters }));
const defaultPoolSize = 10;

/** A parsed connection string. */
export interface PostgresParameters {
  /** The connection string for `pg`, without Plant Store's own parameters. */
  readonly connectionString: string;
  /** The maximum number of connections in the pool. */
  readonly max: number;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  /** Whether the statements that read plants are kept prepared on each connection. */
  readonly preparedStatements: boolean;
  /** Whether to use SCRAM channel binding if the database offers it. */
  readonly enableChannelBinding: boolean;
}

/**
 * Parses a connection string and extracts Plant Store's own parameters from it. `source` is the flag or the environment
 * variable that contains the connection string.
 *
 * @throws {UsageError} if a parameter is unknown, repeated or invalid. The message contains neither values nor names
 *   that may be part of a password.
 */
export function parsePostgresParameters(text: string, source: string): PostgresParameters {
  // The fragment of the URL is ignored, because it contains no parameters.
  const [url = ''] = text.split('#', 1);
  const queryAt = url.indexOf('?');
  const query = queryAt === -1 ? '' : url.slice(queryAt + 1);
  const pairs = query.split('&').filter((pair) => pair !== '');
  const values = new Map<string, string>();
  const forPg: string[] = [];
  for (const pair of pairs) {
    const [[name, value] = ['', '']] = new URLSearchParams(pair);
    // If a password contains an unescaped '?', the query contains the rest of the password and the '@' before the host.
    const shown = /^\w{1,63}$/.test(name) && !query.includes('@') ? `the parameter '${name}'` : 'a parameter';
    if (!rules.has(name)) throw unknownParameter(source, shown);
    if (values.has(name)) throw new UsageError(`${name} must not be given twice in ${source}.`);
    checkValue(name, value, source);
    values.set(name, value);
    if (!Object.hasOwn(ownParameters, name)) forPg.push(pair);
  }
  const [schema, table] = [values.get('schema'), values.get('table')];
  checkNames({ schema, table }, source);
  const base = queryAt === -1 ? url : url.slice(0, queryAt);
  return {
    connectionString: forPg.length === 0 ? base : `${base}?${forPg.join('&')}`,
    max: Number(values.get('max') ?? defaultPoolSize),
    schema,
    table,
    preparedStatements: values.get('preparedStatements') === 'true',
    enableChannelBinding: usesChannelBinding(values, source),
  };
}

function unknownParameter(source: string, shown: string): UsageError {
  const known = [...rules.keys()].join(', ');
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

function checkValue(name: string, value: string, source: string): void {
  const rule = rules.get(name);
  if (rule === undefined) return;
  if ('from' in rule) {
    const isInRange = /^\d{1,10}$/.test(value) && Number(value) >= rule.from && Number(value) <= rule.to;
    if (!isInRange) throw new UsageError(`${name} in ${source} must be ${rule.from} to ${rule.to}.`);
  } else if (!rule.includes(value)) {
    throw new UsageError(`${name} in ${source} must be one of ${rule.join(', ')}.`);
  }
}

/**
 * Returns whether to use channel binding if the database offers it. `pg` cannot require channel binding: it also
 * connects to databases that do not offer it. `channel_binding=require` is therefore accepted only if `pg` verifies the
 * certificate and the host name of the database. This verification also prevents another server from relaying the
 * authentication.
 */
function usesChannelBinding(values: ReadonlyMap<string, string>, source: string): boolean {
  const binding = values.get('channel_binding') ?? 'disable';
  if (binding === 'require') {
    const mode = values.get('sslmode');
    // Without `uselibpqcompat`, `pg` treats these modes like `verify-full`.
    const verifiesName = values.get('uselibpqcompat') !== 'true' && (mode === 'require' || mode === 'verify-ca');
    if (mode !== 'verify-full' && !verifiesName) {
      throw new UsageError(`channel_binding=require in ${source} needs sslmode=verify-full.`);
    }
  }
  return binding !== 'disable';
}
