import { PlantStoreError } from '../../core/model/errors.ts';
import { runStatement, sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';

export interface PostgresTable {
  /** The table's schema. If `undefined`, the connection's `search_path` determines the schema. */
  readonly schema: string | undefined;
  readonly table: string;
}

/**
 * The maximum length of a PostgreSQL identifier, in bytes. PostgreSQL truncates longer identifiers without an error.
 */
const maxIdentifierBytes = 63;

/** The definition of the table, as {@link readDefinition} returns it. */
const definition = '"user" text NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, PRIMARY KEY ("user", id)';

/** The definition of a new table. With the collation "C", the primary key has the same order as a scan. */
const newDefinition = definition.replace('"user" text', '"user" text COLLATE "C"');

/** The SQLSTATEs with which `CREATE … IF NOT EXISTS` fails if another server creates the same object concurrently. */
const createdByOtherStates: ReadonlySet<string | undefined> = new Set([
  '23505', // unique_violation, in the catalog
  '42P06', // duplicate_schema
  '42P07', // duplicate_table
  '42710', // duplicate_object
  'XX000', // "tuple concurrently updated"
]);

const maxAttempts = 10;

/** Specifies what {@link prepareTable} is allowed to create. */
export interface TableCreation {
  /** Whether to create the table if it does not exist. */
  readonly table: boolean;
  /** Whether to also create the schema if it does not exist. */
  readonly schema: boolean;
  /** Called with the quoted name of the table after the table has been created. */
  readonly onNewTable?: ((table: string) => void) | undefined;
}

/**
 * Checks the names of a table and of its schema.
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
  const text = "SELECT current_setting('server_encoding') AS encoding";
  const { rows } = await runStatement(pool, text).catch(asConnectionError);
  const { encoding } = rows[0] as { encoding: string };
  if (encoding !== 'UTF8') {
    throw unsupported(
      'is a database that cannot hold every Unicode text',
      `Its server_encoding is ${encoding}, not UTF8`,
    );
  }
}

/**
 * Handles an error from the first statement. If a connection pooler, such as PgBouncer, has rejected a connection
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
 * Checks an existing table, without taking a lock that could block other transactions. Creates a missing table if
 * `creation` allows this. Any number of servers can call this function concurrently.
 *
 * @returns the SQL expression for sorting users by their UTF-8 bytes.
 * @throws {PlantStoreError} `storage_unsupported` if the table or its schema does not exist and must not be created, if
 *   the table does not have the expected definition, or if the database's encoding is not UTF8.
 */
export async function prepareTable(pool: PostgresPool, place: PostgresTable, creation: TableCreation): Promise<string> {
  const { schema } = place;
  const name = quotedTable(place);
  await checkEncoding(pool);
  for (let attempt = 1; ; attempt++) {
    const found = await readDefinition(pool, name);
    if (found === definition) return readUserOrder(pool, name);
    if (found !== null) {
      throw unsupported('holds no plants', `${name} has (${found}), and must have (${definition})`);
    }
    const lacksSchema = schema !== undefined && !(await hasSchema(pool, schema));
    if (lacksSchema && !creation.schema) throw missing(`schema ${quoted(schema)}`, '3F000');
    if (!creation.table) throw missing(`table ${name}`, '42P01');
    try {
      if (lacksSchema) await runStatement(pool, `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`);
      await runStatement(pool, `CREATE TABLE IF NOT EXISTS ${name} (${newDefinition})`);
      creation.onNewTable?.(name);
    } catch (error) {
      if (attempt === maxAttempts || !createdByOtherStates.has(sqlState(error))) throw error;
    }
  }
}

/**
 * Reads the definition of the table from the catalog. Returns `null` if the table does not exist. Of the additional
 * columns, only those that need a value in every INSERT are included.
 */
async function readDefinition(pool: PostgresPool, quotedName: string): Promise<string | null> {
  const own = `array_position(ARRAY['user', 'id', 'name', 'tag'], attname::text)`;
  const { rows } = await runStatement(
    pool,
    `SELECT concat_ws(', ',
      (SELECT string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
          || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY ${own}, attnum)
        FROM pg_catalog.pg_attribute WHERE attrelid = found.oid AND attnum > 0 AND NOT attisdropped
          AND (${own} IS NOT NULL OR (attnotnull AND NOT atthasdef AND attidentity = ''))),
      (SELECT pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint WHERE conrelid = found.oid AND contype = 'p')
    ) AS definition
    FROM (SELECT to_regclass($1) AS oid) AS found WHERE found.oid IS NOT NULL`,
    [quotedName],
  );
  return (rows[0] as { definition: string } | undefined)?.definition ?? null;
}

/**
 * Returns the SQL expression for sorting users by their UTF-8 bytes. In UTF-8 byte order, 'B' comes before 'a', and 'z'
 * comes before 'é'. No locale sorts both pairs in this way. If the column already sorts by UTF-8 bytes, the expression
 * must not contain COLLATE, because COLLATE would prevent PostgreSQL from using the index.
 */
async function readUserOrder(pool: PostgresPool, quotedName: string): Promise<string> {
  // The subquery only gives the text the column's collation, and reads no rows.
  const collated = (text: string): string => `coalesce((SELECT p."user" FROM ${quotedName} AS p LIMIT 0), '${text}')`;
  const text = `SELECT ('B' < ${collated('a')} AND 'z' < ${collated('é')})::text AS "isByteOrdered"`;
  const { rows } = await runStatement(pool, text);
  return (rows[0] as { isByteOrdered: string }).isByteOrdered === 'true' ? '"user"' : '"user" COLLATE "C"';
}

/**
 * Checks whether a schema exists. This check is necessary even before `CREATE SCHEMA IF NOT EXISTS`, which requires the
 * privilege to create schemas even if the schema exists.
 */
async function hasSchema(pool: PostgresPool, schema: string): Promise<boolean> {
  const { rows } = await runStatement(pool, 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]);
  return rows.length > 0;
}

/** Returns an error whose message can be sent to a client. Only the `cause` names the table. */
function unsupported(message: string, detail: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `The storage ${message}.`, {
    cause: new Error(`${detail}.`, { cause }),
  });
}

/**
 * Returns the error for a table or a schema that does not exist. The `cause` names the table or schema, and its `code`
 * is the SQLSTATE.
 */
function missing(what: string, code: string): PlantStoreError {
  return new PlantStoreError('storage_unsupported', 'The storage has no table for plants.', {
    cause: Object.assign(new Error(`There is no ${what}.`), { code }),
  });
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
