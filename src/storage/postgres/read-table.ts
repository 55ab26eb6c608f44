import type { PostgresPool } from './pool.ts';

/** With the collation "C", an upgrade of the operating system does not change the order of the primary key. */
export const definition =
  '"user" text COLLATE "C" NOT NULL, id bigint NOT NULL, name text NOT NULL, tag text, PRIMARY KEY ("user", id)';

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
 * Everything else that can reject or change a write of one user, and thereby fail the other writes of the batch. For
 * example, a foreign key of another table can prevent deletes, and an index can reject long names. Since PostgreSQL 18,
 * NOT NULL is also a constraint. `REINDEX CONCURRENTLY` temporarily adds an index with the key `1 2`.
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

/** The names of functions are qualified, as in the statements for plants. */
const text = `SELECT pg_catalog.current_setting('server_encoding') AS encoding,
  pg_catalog.current_setting('synchronous_commit') AS "synchronousCommit", plants.*
  FROM (SELECT) AS one LEFT JOIN (
    SELECT (SELECT pg_catalog.string_agg(part, ', ') FROM ((${columns}) UNION ALL ${others}) AS parts (part)) AS found,
      CASE WHEN NOT (rolsuper OR pg_catalog.pg_has_role(relowner, 'MEMBER'))
        THEN rolname::pg_catalog.text END AS stranger,
      (pg_catalog.pg_relation_size(found.oid) >= ${largeTableBytes})::pg_catalog.text AS "isLarge"
    FROM pg_catalog.pg_class AS found JOIN pg_catalog.pg_roles ON pg_roles.oid = relowner
    WHERE found.oid = pg_catalog.to_regclass($1)::pg_catalog.oid
  ) AS plants ON true`;

export async function readTable(pool: PostgresPool, quotedName: string): Promise<TableRow> {
  const { rows } = await pool.query({ text, values: [quotedName] });
  return rows[0] as TableRow;
}
