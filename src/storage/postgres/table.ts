import { performance } from 'node:perf_hooks';
import { PlantStoreError } from '../../core/model/errors.ts';
import { sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import { qualifyOperators } from './statements.ts';

// PostgreSQL truncates longer identifiers without an error.
const maxIdentifierBytes = 63;

/** Throws a TypeError if a name is invalid. The message names the option. */
export function quotedTable(schema: string, table: string): string {
  const name = `${quoted('schema', schema)}.${quoted('table', table)}`;
  // In each session, `pg_temp` is another schema.
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

/** With the collation "C", an upgrade of the operating system does not change the order of the primary key. */
const definition =
  '"user" text COLLATE "C" NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, PRIMARY KEY ("user", id)';

/** {@link definition}, independent of the `search_path`. */
const qualifiedDefinition = definition.replaceAll(' text', ' pg_catalog.text').replace('"C"', 'pg_catalog."C"');

interface TableRow {
  readonly encoding: string;
  readonly synchronousCommit: string;
  /** The table in the form of {@link definition}; `null` if it does not exist. */
  readonly found: string | null;
  /** The owner, unless it is a superuser or a role that the current role is a member of. */
  readonly stranger: string | null;
  readonly isLarge: string | null;
}

/** If a table is at least this large (about 2,500 plants), PostgreSQL always plans to use the index. */
const largeTableBytes = 262_144;

const columns = `SELECT pg_catalog.concat_ws(' ', pg_catalog.quote_ident(attname),
    pg_catalog.format_type(atttypid, atttypmod), 'COLLATE ' || pg_catalog.quote_ident(nullif(collname, 'default')),
    CASE WHEN attnotnull THEN 'NOT NULL' END, CASE WHEN attgenerated <> '' OR attidentity <> '' THEN 'GENERATED' END)
  FROM pg_catalog.pg_attribute LEFT JOIN pg_catalog.pg_collation ON pg_collation.oid = attcollation
  WHERE attrelid = found.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/**
 * Everything else that can reject or change a write. For example, a foreign key of another table can prevent deletes,
 * and an index can reject long names. A rejected write fails its batch, with the writes of other users. Since
 * PostgreSQL 18, NOT NULL is also a constraint. `REINDEX CONCURRENTLY` temporarily adds an index with the key `1 2`.
 */
const others = `SELECT pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint
    WHERE found.oid IN (conrelid, confrelid) AND contype <> 'n'
  UNION ALL SELECT pg_catalog.pg_get_indexdef(indexrelid) FROM pg_catalog.pg_index
    WHERE indrelid = found.oid AND (indkey::pg_catalog.text <> '1 2' OR indpred IS NOT NULL)
  UNION ALL SELECT pg_catalog.pg_get_triggerdef(oid) FROM pg_catalog.pg_trigger
    WHERE tgrelid = found.oid AND NOT tgisinternal
  UNION ALL SELECT 'RULE ' || pg_catalog.quote_ident(rulename) FROM pg_catalog.pg_rewrite WHERE ev_class = found.oid
  UNION ALL SELECT 'INHERITS' FROM pg_catalog.pg_inherits WHERE found.oid IN (inhparent, inhrelid)
  UNION ALL SELECT 'ROW LEVEL SECURITY' WHERE relrowsecurity
  UNION ALL SELECT 'not a permanent table' WHERE relkind <> 'r' OR relpersistence <> 'p'`;

const selectTable = qualifyOperators(`SELECT pg_catalog.current_setting('server_encoding') AS encoding,
  pg_catalog.current_setting('synchronous_commit') AS "synchronousCommit", plants.*
  FROM (SELECT) AS one LEFT JOIN (
    SELECT (SELECT pg_catalog.string_agg(part, ', ') FROM ((${columns}) UNION ALL ${others}) AS parts (part)) AS found,
      CASE WHEN NOT (rolsuper OR pg_catalog.pg_has_role(relowner, 'MEMBER'))
        THEN rolname::pg_catalog.text END AS stranger,
      (pg_catalog.pg_relation_size(found.oid) >= ${largeTableBytes})::pg_catalog.text AS "isLarge"
    FROM pg_catalog.pg_class AS found JOIN pg_catalog.pg_roles ON pg_roles.oid = relowner
    WHERE found.oid = pg_catalog.to_regclass($1)::pg_catalog.oid
  ) AS plants ON true`);

const recheckMs = 1000;

/**
 * The table of plants. It can be changed while a server runs, so an operation checks it again if the last check is more
 * than a second old.
 */
export class PlantTable {
  /** Whether the latest check found that PostgreSQL always plans to use the index. */
  isLarge = false;
  readonly #pool: PostgresPool;
  readonly #name: string;
  readonly #createTable: boolean;
  /** The latest check; `undefined` if the next operation must check the table. */
  #checked: Promise<void> | undefined;
  #nextCheckAt = Infinity;
  #wasFound = false;

  constructor(pool: PostgresPool, name: string, createTable: boolean) {
    this.#pool = pool;
    this.#name = name;
    this.#createTable = createTable;
  }

  /** Rejects with `storage_unsupported` if the table cannot be used. */
  ready(): Promise<void> {
    if (performance.now() >= this.#nextCheckAt) this.checkAgain();
    this.#checked ??= this.#prepare();
    return this.#checked;
  }

  /** Makes the next operation check the table again. */
  checkAgain(): void {
    this.#checked = undefined;
    this.#nextCheckAt = Infinity;
  }

  async #prepare(): Promise<void> {
    if (!(await this.#check())) await this.#create();
    this.#wasFound = true;
    this.#nextCheckAt = performance.now() + recheckMs;
  }

  async #create(): Promise<void> {
    const name = this.#name;
    // A table that is dropped later is not created again, because a new table would hide the loss of the plants.
    if (!this.#createTable || this.#wasFound) throw unsupported(`There is no table ${name}.`);
    try {
      await this.#pool.query({ text: `CREATE TABLE ${name} (${qualifiedDefinition})`, values: [] });
    } catch (error) {
      if (sqlState(error) === '3F000') throw unsupported(`There is no schema for the table ${name}.`);
      // Another server may have created the table at the same time.
      if (!(await this.#check())) throw error;
    }
  }

  /** Returns whether the table exists. Rejects with `storage_unsupported` if it cannot be used. */
  async #check(): Promise<boolean> {
    const name = this.#name;
    const { rows } = await this.#pool.query({ text: selectTable, values: [name] });
    const { encoding, synchronousCommit, found, stranger, isLarge } = rows[0] as TableRow;
    if (encoding !== 'UTF8') throw unsupported(`The server_encoding is ${encoding}, not UTF8.`);
    if (synchronousCommit === 'off') {
      throw unsupported('synchronous_commit is off, so a crash would lose plants. Set it to on.');
    }
    if (found === null) return false;
    if (found !== definition) {
      const remedy = 'Undo the changes, or choose another name.';
      throw unsupported(`The table ${name} is not as Plant Store creates it (${found}). ${remedy}`);
    }
    if (this.#createTable && stranger !== null) {
      const remedy = 'Change the owner. If you trust that role, you can set createTable to false instead.';
      throw unsupported(`The table ${name} belongs to the role ${stranger}. ${remedy}`);
    }
    this.isLarge = isLarge === 'true';
    return true;
  }
}

/** The default message can be sent to a client. Only the `cause` contains the details. */
function unsupported(detail: string): PlantStoreError {
  return new PlantStoreError('storage_unsupported', undefined, { cause: new Error(detail) });
}
