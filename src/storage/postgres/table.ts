import { PlantStoreError } from '../../core/model/errors.ts';
import { runStatement, sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';

export interface PostgresTable {
  /** The schema of the table. If `undefined`, the connection's `search_path` determines the schema. */
  readonly schema: string | undefined;
  readonly table: string;
}

/** The maximum length of a PostgreSQL identifier. PostgreSQL truncates longer identifiers without an error. */
const maxIdentifierBytes = 63;

/** The types of the columns, as returned by `pg_typeof`. */
const columnTypes: Readonly<Record<string, string>> = { user: 'text', id: 'bigint', name: 'text', tag: 'text' };

/** The SQLSTATEs with which `CREATE … IF NOT EXISTS` fails if another server creates the same object concurrently. */
const createdByOtherStates: ReadonlySet<string | undefined> = new Set([
  '23505', // unique_violation, in the catalog
  '42P06', // duplicate_schema
  '42P07', // duplicate_table
  '42710', // duplicate_object
  'XX000', // "tuple concurrently updated"
]);

const maxAttempts = 10;

/** What {@link prepareTable} may create. */
export interface TableCreation {
  /** Whether a missing table is created. */
  readonly table: boolean;
  /** Whether a missing schema is created together with the table. */
  readonly schema: boolean;
  /** Called with the quoted name of the table after the table has been created. */
  readonly onNewTable?: ((table: string) => void) | undefined;
}

/**
 * Checks the names of a table and its schema.
 *
 * @throws {TypeError} if a name is invalid; the message names the option.
 */
export function checkTableOptions({ schema, table }: PostgresTable): void {
  for (const [option, name] of Object.entries({ schema, table })) {
    if (name === undefined && option === 'schema') continue;
    if (
      typeof name !== 'string' ||
      name === '' ||
      name.includes('\0') ||
      Buffer.byteLength(name) > maxIdentifierBytes
    ) {
      throw new TypeError(`${option} must be a text of 1 to ${maxIdentifierBytes} bytes without U+0000`);
    }
  }
}

export function quotedTable({ schema, table }: PostgresTable): string {
  return schema === undefined ? quoted(table) : `${quoted(schema)}.${quoted(table)}`;
}

/**
 * Checks that the database can store every Unicode character.
 *
 * @throws {PlantStoreError} `storage_unsupported` if the database's encoding is not UTF8.
 */
async function checkEncoding(pool: PostgresPool): Promise<void> {
  const [row] = await runStatement(pool, "SELECT current_setting('server_encoding') AS encoding").catch(
    asConnectionError,
  );
  const { encoding } = row as { encoding: string };
  if (encoding !== 'UTF8') {
    throw unsupported(
      'is a database that cannot hold every Unicode text',
      `Its server_encoding is ${encoding}, not UTF8`,
    );
  }
}

/**
 * Handles an error of the first statement. If a connection pooler, such as PgBouncer, has rejected a connection
 * parameter, throws an error that explains which parameters to remove. Rethrows any other error unchanged.
 */
function asConnectionError(error: unknown): never {
  // protocol_violation
  if (sqlState(error) !== '08P01' || !(error as Error).message.includes('startup parameter')) throw error;
  throw unsupported(
    'uses a connection pooler that rejects a parameter of the connection',
    `${(error as Error).message}. Remove options and all timeouts but query_timeout from the connection string`,
    error,
  );
}

/**
 * Creates the table if it is missing and `creation` permits it. Inspects an existing table without taking a lock that
 * could block other transactions. Any number of servers may create the table concurrently.
 *
 * @returns the SQL expression that sorts users by their UTF-8 bytes.
 * @throws {PlantStoreError} `storage_unsupported` if the table or its schema is missing and must not be created, if the
 *   table does not have the expected columns, or if the database's encoding is not UTF8.
 */
export async function prepareTable(pool: PostgresPool, place: PostgresTable, creation: TableCreation): Promise<string> {
  const { schema } = place;
  await checkEncoding(pool);
  for (let attempt = 1; ; attempt++) {
    const userOrder = await inspectTable(pool, place);
    if (userOrder !== undefined) return userOrder;
    const lacksSchema = schema !== undefined && !(await hasSchema(pool, schema));
    if (lacksSchema && !creation.schema) throw missing(`schema ${quoted(schema)}`, '3F000');
    if (!creation.table) throw missing(`table ${quotedTable(place)}`, '42P01');
    try {
      if (lacksSchema) await runStatement(pool, `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
      await createTable(pool, place);
      creation.onNewTable?.(quotedTable(place));
    } catch (error) {
      if (attempt === maxAttempts || !createdByOtherStates.has(sqlState(error))) throw error;
    }
  }
}

/**
 * Checks the columns of the table. Returns the SQL expression that sorts users by their UTF-8 bytes, or `undefined` if
 * the table does not exist.
 */
async function inspectTable(pool: PostgresPool, place: PostgresTable): Promise<string | undefined> {
  const table = quotedTable(place);
  // Returns an SQL expression that has the same type and collation as a column. The expression does not read any rows.
  // It fails if the column does not exist.
  const valueOf = (column: string): string => `(SELECT p.${quoted(column)} FROM ${table} AS p LIMIT 0)`;
  const types = Object.keys(columnTypes).map((column) => `pg_typeof(${valueOf(column)})::text`);
  const isByteOrdered = byteOrderCheck((text) => `coalesce(${valueOf('user')}::text, ${text})`);
  try {
    const [row] = await runStatement(
      pool,
      `SELECT concat_ws(', ', ${types.join(', ')}) AS types, (${isByteOrdered})::text AS "isByteOrdered"`,
    );
    const { types: found, ...order } = row as { types: string; isByteOrdered: string };
    const expected = Object.values(columnTypes).join(', ');
    if (found !== expected) {
      throw unsupported('holds no plants', `The columns of ${table} are ${found}, not ${expected}`);
    }
    return order.isByteOrdered === 'true' ? '"user"' : '"user" COLLATE "C"';
  } catch (error) {
    const state = sqlState(error);
    // undefined_table, invalid_schema_name
    if (state === '42P01' || state === '3F000') return undefined;
    // undefined_column
    if (state === '42703') throw unsupported('holds no plants', `${table} lacks a column`, error);
    throw error;
  }
}

/**
 * Checks whether a schema exists. This check is necessary even before `CREATE SCHEMA IF NOT EXISTS`, which requires the
 * privilege to create schemas even if the schema exists.
 */
async function hasSchema(pool: PostgresPool, schema: string): Promise<boolean> {
  const found = await runStatement(pool, 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]);
  return found.length > 0;
}

async function createTable(pool: PostgresPool, place: PostgresTable): Promise<void> {
  // Users must be sorted by their bytes. If this is the database's default order, COLLATE is omitted, because some
  // databases do not have the collation "C".
  const [row] = await runStatement(pool, `SELECT (${byteOrderCheck((text) => text)})::text AS "isByteOrdered"`);
  const collation = (row as { isByteOrdered: string }).isByteOrdered === 'true' ? '' : 'COLLATE "C"';
  await runStatement(
    pool,
    `CREATE TABLE IF NOT EXISTS ${quotedTable(place)} (
    "user" text ${collation} NOT NULL,
    id bigint NOT NULL,
    name text NOT NULL,
    tag text,
    PRIMARY KEY ("user", id)
  )`,
  );
}

/**
 * Returns an SQL condition that is true if strings are sorted by their UTF-8 bytes. In this order, 'B' comes before
 * 'a', and 'z' comes before 'é'. No locale has both of these properties. `typed` adds the collation to check to the SQL
 * expression of a string.
 */
function byteOrderCheck(typed: (text: string) => string): string {
  return `'B' < ${typed("'a'")} AND 'z' < ${typed("'é'")}`;
}

/** Returns an error whose message may be sent to a client. Only the `cause` names the table. */
function unsupported(message: string, detail: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `The storage ${message}.`, {
    cause: new Error(`${detail}.`, { cause }),
  });
}

/** Returns the error for a missing table or schema. The `cause` names it, and has the SQLSTATE `code`. */
function missing(what: string, code: string): PlantStoreError {
  return new PlantStoreError('storage_unsupported', 'The storage has no table for plants.', {
    cause: Object.assign(new Error(`There is no ${what}.`), { code }),
  });
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
