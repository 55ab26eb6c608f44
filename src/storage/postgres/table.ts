import { NoStoreError, PlantStoreError } from '../../core/model/errors.ts';
import { qualifyOperators } from './statements.ts';
import type { PostgresPool } from './statements.ts';

// PostgreSQL truncates longer identifiers without an error.
const maxIdentifierBytes = 63;

/** Returns the quoted name, with the schema. Throws a TypeError if a name is invalid. The message names the option. */
export function qualifiedName(schema: string, table: string): string {
  const name = `${quoted('schema', schema)}.${quoted('table', table)}`;
  // For example, `pg_temp` is a different schema in each session.
  if (schema.startsWith('pg_')) throw new TypeError('schema must not start with pg_, which PostgreSQL reserves');
  return name;
}

function quoted(option: string, name: unknown): string {
  const isValid = typeof name === 'string' && name !== '' && !name.includes('\0');
  if (!isValid || Buffer.byteLength(name) > maxIdentifierBytes) {
    throw new TypeError(`${option} must be a string of 1 to ${maxIdentifierBytes} bytes without U+0000`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

// With the collation "C", an upgrade of the operating system does not change the order of the primary key.
const definition = `"user" pg_catalog.text COLLATE pg_catalog."C" NOT NULL, id bigint NOT NULL,
  name pg_catalog.text NOT NULL, tag pg_catalog.text, PRIMARY KEY ("user", id)`;

/** How {@link selectTable} describes a table with this definition. */
const expected = 'user text C NOT NULL, id int8 NOT NULL, name text NOT NULL, tag text, PRIMARY KEY (user, id)';

const columns = `SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', attname, typname,
    CASE WHEN collname <> 'default' THEN collname END, CASE WHEN attnotnull THEN 'NOT NULL' END), ', ' ORDER BY attnum)
  FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_type ON pg_type.oid = atttypid
    LEFT JOIN pg_catalog.pg_collation ON pg_collation.oid = attcollation
  WHERE attrelid = found.oid AND attnum > 0 AND NOT attisdropped`;

// With `quote_all_identifiers`, PostgreSQL adds quotation marks.
const primaryKey = `SELECT pg_catalog.replace(pg_catalog.pg_get_constraintdef(oid), '"', '')
  FROM pg_catalog.pg_constraint WHERE conrelid = found.oid AND contype = 'p'`;

/**
 * Describes the table in `found`, which is `null` if the table does not exist. `stranger` is the owner, unless the
 * owner is a superuser or a role that the current role is a member of.
 */
const selectTable = qualifyOperators(`SELECT pg_catalog.current_setting('server_encoding') AS encoding, plants.*
  FROM (SELECT) AS one LEFT JOIN (
    SELECT pg_catalog.concat_ws(', ', (${columns}), (${primaryKey}),
        CASE WHEN relkind <> 'r' OR relpersistence <> 'p' THEN 'not a permanent table'
          WHEN pg_catalog.row_security_active(found.oid) THEN 'row-level security' END) AS found,
      CASE WHEN NOT (rolsuper OR pg_catalog.pg_has_role(relowner, 'MEMBER'))
        THEN rolname::pg_catalog.text END AS stranger
    FROM pg_catalog.pg_class AS found JOIN pg_catalog.pg_roles ON pg_roles.oid = relowner
    WHERE found.oid = pg_catalog.to_regclass($1)::pg_catalog.oid
  ) AS plants ON true`);

/** Rejects with `storage_unsupported` if the table cannot be used. */
export async function prepareTable(pool: PostgresPool, name: string, createTable: boolean): Promise<void> {
  if (await hasTable(pool, name, createTable)) return;
  if (!createTable) throw unsupported(new NoStoreError(`There is no table ${name}.`));
  try {
    await pool.query({ text: `CREATE TABLE ${name} (${definition})`, values: [] });
  } catch (error) {
    // Another server may have created the table at the same time.
    if (!(await hasTable(pool, name, createTable))) throw error;
  }
}

async function hasTable(pool: PostgresPool, name: string, createTable: boolean): Promise<boolean> {
  const { rows } = await pool.query({ text: selectTable, values: [name] });
  const { encoding, found, stranger } = rows[0] as Record<'encoding' | 'found' | 'stranger', string | null>;
  let problem;
  if (encoding !== 'UTF8') problem = `The server_encoding is ${encoding}, not UTF8.`;
  else if (found === null) return false;
  else if (found !== expected) problem = `The table ${name} has the columns (${found}), not (${expected}).`;
  else if (createTable && stranger !== null) {
    const trusted = 'set createTable to false (with serve, start with a tokens file and without --create)';
    problem = `The table ${name} belongs to the role ${stranger}. Change the owner or, if you trust it, ${trusted}.`;
  }
  if (problem !== undefined) throw unsupported(new Error(problem));
  return true;
}

/** The default message can be sent to a client. Only the cause contains the details. */
export function unsupported(cause: unknown): PlantStoreError {
  return new PlantStoreError('storage_unsupported', undefined, { cause });
}
