import { checkTableOptions } from '../../storage/postgres/table.ts';
import { UsageError } from './command.ts';

/**
 * The allowed values of a parameter: any text, the name of a table or schema, an integer in a range, or one word from a
 * list.
 */
type Values = 'text' | 'name' | readonly [from: number, to: number] | { readonly words: string };

const milliseconds = [0, 2_147_483_647] as const;

/** The parameters that are not passed to `pg`. */
const ownParameters = {
  max: [1, 9999],
  schema: 'name',
  table: 'name',
  // `pg` supports channel binding, but does not read this setting from a connection string.
  channel_binding: { words: 'disable, prefer, require' },
} as const;

/**
 * All supported parameters. The parameters of `pg` are those of pg 8.23 and pg-connection-string 2.14. This module
 * checks the values, because `pg` does not check most of them.
 */
const allParameters: Readonly<Record<string, Values>> = {
  ...ownParameters,
  user: 'text',
  password: 'text',
  host: 'text',
  port: [1, 65_535],
  ssl: { words: 'true, 1, 0, no-verify' },
  sslmode: { words: 'disable, prefer, require, verify-ca, verify-full, no-verify' },
  sslcert: 'text',
  sslkey: 'text',
  sslrootcert: 'text',
  sslnegotiation: { words: 'postgres, direct' },
  uselibpqcompat: { words: 'true, false' },
  application_name: 'text',
  fallback_application_name: 'text',
  options: 'text',
  statement_timeout: milliseconds,
  lock_timeout: milliseconds,
  idle_in_transaction_session_timeout: milliseconds,
  // If this value were 0, every query would time out immediately.
  query_timeout: [1, 2_147_483_647],
};

export interface PostgresParameters {
  /** The connection string for `pg`, without Plant Store's own parameters. */
  readonly connectionString: string;
  /** The maximum number of connections in the pool. */
  readonly max: number;
  readonly schema: string | undefined;
  readonly table: string;
  /** The `query_timeout`, in milliseconds. */
  readonly queryTimeoutMs: number | undefined;
  /** Whether to use SCRAM channel binding if the database offers it. */
  readonly enableChannelBinding: boolean;
}

/**
 * Parses a connection string and extracts Plant Store's own parameters from it. `source` is the flag or the environment
 * variable that contains the connection string.
 *
 * @throws {UsageError} if a parameter is unknown, repeated or invalid. The message contains no values, and no names
 *   that may be part of a password.
 */
export function parsePostgresParameters(text: string, source: string): PostgresParameters {
  // The fragment of the URL is ignored, because it contains no parameters.
  const [, base = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(text) ?? [];
  const parameters = new URLSearchParams(query);
  for (const [name, value] of parameters) {
    const values = Object.hasOwn(allParameters, name) ? allParameters[name] : undefined;
    if (values === undefined) {
      // If a password contains an unescaped '?', the query begins with the rest of the password. The query then also
      // contains the '@' that precedes the host, so the name is not shown.
      const shown = /^\w{1,63}$/.test(name) && !query.includes('@') ? `the parameter '${name}'` : 'a parameter';
      throw new UsageError(`${source} has ${shown} that is not one of ${Object.keys(allParameters).join(', ')}.`);
    }
    if (parameters.getAll(name).length > 1) throw new UsageError(`${name} must not be given twice in ${source}.`);
    const expected = expectedInstead(value, values);
    if (expected !== undefined) throw new UsageError(`${name} in ${source} must be ${expected}.`);
  }
  const own = {
    max: Number(parameters.get('max') ?? 10),
    schema: parameters.get('schema') ?? undefined,
    table: parameters.get('table') ?? 'plants',
    queryTimeoutMs: parameters.has('query_timeout') ? Number(parameters.get('query_timeout')) : undefined,
    enableChannelBinding: usesChannelBinding(parameters, source),
  };
  for (const name of Object.keys(ownParameters)) parameters.delete(name);
  return { connectionString: parameters.size === 0 ? base : `${base}?${parameters.toString()}`, ...own };
}

/**
 * Returns whether to use channel binding if the database offers it. `pg` cannot require channel binding, because it
 * also connects to databases that do not offer channel binding. `channel_binding=require` is therefore accepted only if
 * `pg` verifies the certificate and the host name of the database. This verification also prevents another server from
 * relaying the authentication.
 */
function usesChannelBinding(parameters: URLSearchParams, source: string): boolean {
  const binding = parameters.get('channel_binding') ?? 'disable';
  // Without `uselibpqcompat`, `pg` treats the modes `require` and `verify-ca` like `verify-full`.
  const isCompatible = parameters.get('uselibpqcompat') === 'true';
  const verifyingModes = isCompatible ? ['verify-full'] : ['verify-full', 'require', 'verify-ca'];
  if (binding === 'require' && !verifyingModes.includes(parameters.get('sslmode') ?? '')) {
    throw new UsageError(`channel_binding=require in ${source} needs sslmode=verify-full.`);
  }
  return binding !== 'disable';
}

/** Returns `undefined` if the value is allowed; otherwise, a description of the allowed values. */
function expectedInstead(value: string, values: Values): string | undefined {
  if (values === 'text') return undefined;
  if (values === 'name') return isTableName(value) ? undefined : 'a name of 1 to 63 bytes';
  if ('words' in values) return values.words.split(', ').includes(value) ? undefined : `one of ${values.words}`;
  const [from, to] = values;
  return /^\d{1,10}$/.test(value) && Number(value) >= from && Number(value) <= to ? undefined : `${from} to ${to}`;
}

function isTableName(name: string): boolean {
  try {
    checkTableOptions({ schema: undefined, table: name });
    return true;
  } catch {
    return false;
  }
}
