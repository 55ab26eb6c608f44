import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plant } from '../../core/model/plant.ts';
import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../../core/page.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';

/** The part of a connection pool that this package uses. A `Pool` from the `pg` package implements this interface. */
export interface PostgresPool {
  /** Runs a statement in its own transaction, on any connection of the pool. */
  query(statement: {
    /** The name of the prepared statement. If `undefined`, the statement is not prepared for reuse. */
    name?: string;
    text: string;
    values: unknown[];
  }): Promise<{
    /** One object for each row, with a member for each column. */
    rows: unknown[];
    /** The number of rows that the statement returned or changed. */
    rowCount: number | null;
  }>;
}

/**
 * All result columns have the type text, because an application can register its own parsers for other types with the
 * driver. Statements for a single write or page, and for writes of one kind, take less CPU time in the database.
 */
type StatementName =
  'insertOne' | 'deleteOne' | 'insert' | 'delete' | 'insertAndDelete' | 'page' | 'pages' | 'list' | 'scan';

/**
 * PostgreSQL returns a page as two strings. Compared with one row for each plant, this takes the same CPU time in
 * PostgreSQL and much less in Node.js. Both strings are `null` if there are no plants.
 */
export interface PageRow {
  /** The number of the request in `pages`, starting at 1. */
  readonly nth: string;
  /** The ids as 16 hexadecimal digits each, because parsing decimal digits is slow. */
  readonly ids: string | null;
  /** The names and tags, separated by {@link separator}. A colon precedes each tag, because a tag can be empty. */
  readonly texts: string | null;
}

/** A control character, which names and tags rarely contain. */
const separator = '\x7f';

/** A standby can lack writes that the primary has acknowledged. */
const requirePrimary = failIf(
  'pg_catalog.pg_is_in_recovery()',
  'The database is a standby, so its plants can be outdated. Connect to the primary.',
);

const requireDurable = failIf(
  "pg_catalog.current_setting('synchronous_commit') = 'off'",
  'synchronous_commit is off, so a crash would lose plants. Set it to on.',
);

// With `array_nulls` off, PostgreSQL reads NULL in an array as the string `NULL`.
const requireNulls = failIf(
  "pg_catalog.current_setting('array_nulls') = 'off'",
  'array_nulls is off, so plants without a tag would get the tag NULL. Set it to on.',
);

// Always true. It makes a generic plan expect 1 request instead of 10. If a generic plan seems costly, PostgreSQL plans
// each execution again.
const oneRequest = 'request.nth >= 1 AND request.nth <= 2147483647';

/** The minimum size of a plant's JSON in bytes, in SQL. `octet_length` does not read long texts. */
const minPlantBytes = `pg_catalog.octet_length(name) +
  coalesce(pg_catalog.octet_length(tag) + ${taggedBytes}, ${untaggedBytes})`;

const text = 'pg_catalog.text';
const conflict = 'ON CONFLICT ("user", id) DO NOTHING';
const insert = `INSERT INTO :table ("user", id, name, tag)
  SELECT * FROM ${rowsFrom(1, text, 'bigint', text, text)} AS plants WHERE ${requireDurable} AND ${requireNulls}
  ${conflict} RETURNING "user", id::${text} AS id`;

/** SQL expressions for the values of the only request in `page`, and of each request in `pages`. */
const onlyRequest = { user: '$1', first: '$2::bigint', limit: '$3::integer', maxPlantBytes: '$4::integer' };
const eachRequest = { ...onlyRequest, user: 'request."user"', first: 'request.first', limit: 'request.most' };

const templates: Readonly<Record<StatementName, string>> = {
  insertOne: `INSERT INTO :table ("user", id, name, tag)
    SELECT $1::${text}, $2::bigint, $3::${text}, $4::${text} WHERE ${requireDurable} ${conflict}`,
  deleteOne: `DELETE FROM :table WHERE "user" = $1 AND id = $2 AND ${requireDurable}`,
  insert,
  delete: deleteFrom(1),
  // A single statement is atomic without an explicit transaction, so it can use any connection of the pool.
  insertAndDelete: `WITH created AS (${insert}), deleted AS (${deleteFrom(5)})
    SELECT "user", id FROM created UNION ALL SELECT "user", id FROM deleted`,
  page: `SELECT '1' AS nth, page.* FROM (${pageOf(onlyRequest)}) AS page WHERE ${requirePrimary}`,
  pages: `SELECT request.nth::${text} AS nth, page.*
    FROM ${rowsFrom(1, text, 'bigint', 'integer')} WITH ORDINALITY AS request("user", first, most, nth)
    CROSS JOIN LATERAL (${pageOf(eachRequest)}) AS page
    WHERE ${oneRequest} AND ${requirePrimary}`,
  list: rowsOf(plantsOf(onlyRequest), `(SELECT ${requirePrimary})`),
  scan: rowsOf(`SELECT * FROM :table WHERE ("user", id) > ($1, $2::bigint)
    ORDER BY "user", id LIMIT ${maxPageLength}`),
};

/** Returns SQL that fails if the condition is true. The error, invalid_text_representation, contains the message. */
function failIf(condition: string, message: string): string {
  return `(CASE WHEN ${condition} THEN '${message}' ELSE 'true' END)::boolean`;
}

/** Returns the rows of array parameters, each with its element type. The first parameter is `$first`. */
function rowsFrom(first: number, ...types: string[]): string {
  return `ROWS FROM (${types.map((type, n) => `pg_catalog.unnest($${first + n}::${type}[])`).join(', ')})`;
}

function deleteFrom(first: number): string {
  return `DELETE FROM :table AS plants
    USING ${rowsFrom(first, text, 'bigint')} WITH ORDINALITY AS request("user", id, nth)
    WHERE plants."user" = request."user" AND plants.id = request.id AND ${oneRequest} AND ${requireDurable}
    RETURNING plants."user", plants.id::${text} AS id`;
}

/**
 * Reads one row more than the limit. PostgreSQL estimates that `LIMIT $n` returns a tenth of its input. Like
 * `oneRequest`, nested limits make a generic plan seem cheap: they lower the estimate to 1001, 100 and 10 rows.
 */
function plantsOf({ user, first, limit }: typeof onlyRequest): string {
  const all = `SELECT * FROM :table WHERE "user" = ${user} AND id >= ${first} ORDER BY id LIMIT ${maxPageLength + 1}`;
  const bounded = `SELECT * FROM (${all}) AS bounded LIMIT ${limit} + 1`;
  return `SELECT * FROM (${bounded}) AS limited LIMIT ${limit} + 1`;
}

/** Two separators replace a plant larger than `maxPlantBytes`. */
function pageOf(request: typeof onlyRequest): string {
  const plant = `name || coalesce('${separator}:' || tag, '${separator}')`;
  const isSmall = `${minPlantBytes} <= ${request.maxPlantBytes}`;
  const bounded = `CASE WHEN ${isSmall} THEN ${plant} ELSE '${separator}${separator}' END`;
  return `SELECT pg_catalog.encode(pg_catalog.string_agg(pg_catalog.int8send(id), ''), 'hex') AS ids,
    pg_catalog.string_agg(${bounded}, '${separator}') AS texts FROM (${plantsOf(request)}) AS plants`;
}

/** Returns plants until their minimum size exceeds `maxPageBytes`, and one more, which shows that more follow. */
function rowsOf(plants: string, condition = 'true'): string {
  return `SELECT "user", id::${text} AS id, name, tag FROM (
      SELECT *, pg_catalog.sum(${minPlantBytes})
        OVER (ORDER BY "user", id ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) AS previous
      FROM (${plants}) AS plants
    ) AS plants
    WHERE coalesce(previous, 0) <= ${maxPageBytes} AND ${condition} ORDER BY plants."user", plants.id`;
}

/**
 * All names in a statement are qualified, because the `search_path` of a connection can change at any time. A pooler
 * can lend the connection to other clients, and other roles can create functions, types and operators in a schema of
 * the path.
 */
export function qualifyOperators(sql: string): string {
  return sql.replace(/ (=|<>|<=|>=|<|>|\+|\|\|)\s/g, ' OPERATOR(pg_catalog.$1) ');
}

/** Returns the SQLSTATE of a PostgreSQL error: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

export type RunStatement = (statement: StatementName, values: unknown[]) => ReturnType<PostgresPool['query']>;

// serialization_failure and deadlock_detected. After any other error, the outcome of the statement might be unknown.
const rolledBackStates: readonly unknown[] = ['40001', '40P01'];
const maxRetries = 5;
const firstBackOffMs = 10;

// invalid_sql_statement_name and duplicate_prepared_statement. The statement was not executed.
const unpreparedStates: readonly unknown[] = ['26000', '42P05'];

/** Prepares statements, because PostgreSQL then keeps their plans. Stops doing so if a pooler rejects them. */
export function statementRunner(pool: PostgresPool, quotedTable: string): RunStatement {
  const all = Object.entries(templates).map(([key, template]) => {
    // The table's name can contain any characters, so it is inserted last.
    const text = qualifyOperators(template).replaceAll(':table', () => quotedTable);
    // Clients of a connection pooler can share a connection, so different statements must have different names.
    return [key, { name: `plant_store_${key}_${hash('sha256', text, 'hex').slice(0, 24)}`, text }] as const;
  });
  const statements = Object.fromEntries(all) as Record<StatementName, { name: string; text: string }>;
  let isSupported = true;

  return async (statement, values) => {
    const { name, text } = statements[statement];
    for (let retries = 0; ;) {
      const isPrepared = isSupported;
      try {
        return await pool.query(isPrepared ? { name, text, values } : { text, values });
      } catch (error) {
        const state = sqlState(error);
        if (isPrepared && unpreparedStates.includes(state)) isSupported = false;
        else if (retries === maxRetries || !rolledBackStates.includes(state)) throw error;
        // The delay is random, so that conflicting statements do not collide again.
        else await sleep(Math.random() * firstBackOffMs * 2 ** retries++);
      }
    }
  };
}

/** Runs a statement that returns a row for each plant. */
export async function readPlants(run: RunStatement, name: 'list' | 'scan', values: unknown[]): Promise<OwnedPlant[]> {
  const { rows } = await run(name, values);
  type Row = Record<'user' | 'id' | 'name', string> & { tag: string | null };
  return (rows as Row[]).map(({ user, id, name, tag }) => ({
    user,
    plant: tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag },
  }));
}

/** Returns `undefined` if a plant was omitted, or if a name or tag contains a separator. */
export function parsePage({ ids, texts }: PageRow): Plant[] | undefined {
  if (ids === null || texts === null) return [];
  const bytes = Buffer.from(ids, 'hex');
  const int64s = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const plants: Plant[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; at += 8) {
    const nameEnd = texts.indexOf(separator, start);
    const nextSeparator = texts.indexOf(separator, nameEnd + 1);
    // Only the last plant has no separator after it. Otherwise, a plant was omitted, or a text contains a separator.
    if ((nextSeparator === -1) !== (at + 8 === bytes.length)) return undefined;
    const end = nextSeparator === -1 ? texts.length : nextSeparator;
    const [id, name] = [int64s.getBigInt64(at), texts.slice(start, nameEnd)];
    plants.push(end === nameEnd + 1 ? { id, name } : { id, name, tag: texts.slice(nameEnd + 2, end) });
    start = end + 1;
  }
  return plants;
}
