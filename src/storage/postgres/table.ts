import { PlantStoreError } from '../../core/model/errors.ts';
import { sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';

// PostgreSQL truncates longer identifiers without an error.
const maxIdentifierBytes = 63;

/** With the collation "C", an upgrade of the operating system does not change the order of the primary key. */
const definition =
  '"user" text COLLATE "C" NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, PRIMARY KEY ("user", id)';

/** Throws a TypeError if a name is invalid. The message names the option. */
export function quotedTable(schema: string | undefined, table: string): string {
  const name = quoted('table', table);
  return schema === undefined ? name : `${quoted('schema', schema)}.${name}`;
}

function quoted(option: string, name: unknown): string {
  const isValid = typeof name === 'string' && name !== '' && !name.includes('\0');
  if (!isValid || Buffer.byteLength(name) > maxIdentifierBytes) {
    throw new TypeError(`${option} must be a string of 1 to ${maxIdentifierBytes} bytes without U+0000`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

const noTable = 'has no table for plants';

export async function prepareTable(pool: PostgresPool, name: string, createTable: boolean): Promise<void> {
  const { encoding, found } = await readTable(pool, name);
  if (encoding !== 'UTF8') {
    throw unsupported('cannot hold every Unicode text', `The server_encoding is ${encoding}, not UTF8.`);
  }
  if (found === definition) return;
  if (found !== null) {
    const remedy = 'Rename that table, or choose another name for the table of Plant Store.';
    throw unsupported('is not a plant store', `Plant Store did not create the table ${name} (${found}). ${remedy}`);
  }
  if (!createTable) throw unsupported(noTable, `There is no table ${name}.`);
  try {
    await pool.query({ text: `CREATE TABLE ${name} (${definition})`, values: [] });
  } catch (error) {
    if (sqlState(error) === '3F000') throw unsupported(noTable, `There is no schema for the table ${name}.`);
    // Another server may have created the table at the same time.
    if ((await readTable(pool, name)).found !== definition) throw error;
  }
}

/** Returns the table's definition in the form of {@link definition}; `null` if the table does not exist. */
async function readTable(pool: PostgresPool, quotedName: string): Promise<{ encoding: string; found: string | null }> {
  const text = `SELECT current_setting('server_encoding') AS encoding, (
      SELECT concat_ws(', ',
        CASE WHEN relkind <> 'r' OR relpersistence <> 'p' THEN 'not a permanent table' END,
        (SELECT string_agg(concat_ws(' ', quote_ident(attname), format_type(atttypid, atttypmod),
            'COLLATE ' || quote_ident(nullif(collname, 'default')), CASE WHEN attnotnull THEN 'NOT NULL' END
          ), ', ' ORDER BY attnum)
          FROM pg_catalog.pg_attribute LEFT JOIN pg_catalog.pg_collation ON pg_collation.oid = attcollation
          WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped),
        (SELECT pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint
          WHERE conrelid = pg_class.oid AND contype = 'p'))
      FROM pg_catalog.pg_class WHERE oid = to_regclass($1)
    ) AS found`;
  const { rows } = await pool.query({ text, values: [quotedName] });
  return rows[0] as { encoding: string; found: string | null };
}

/** Returns an error whose message can be sent to a client. Only the `cause` names the table. */
function unsupported(message: string, detail: string): PlantStoreError {
  return new PlantStoreError('storage_unsupported', `The storage ${message}.`, { cause: new Error(detail) });
}
