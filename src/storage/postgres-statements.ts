import { maxPageText } from './page-bounds.ts';

/**
 * Bytes of UTF-8 after which a page takes no further plant. No UTF-16 code unit takes more than
 * three, so that such a page has reached `maxPageText`. Bytes, because PostgreSQL knows them
 * without reading a long text, while it would have to decompress and decode it to count characters.
 */
const maxPageBytes = 3 * maxPageText;

/**
 * The statements of a table, for PostgreSQL 14 and newer. Whatever they answer is text, for which no
 * application sets a parser of its own.
 */
export interface PostgresStatements {
  /** $1 users, $2 ids, $3 names, $4 tags. Answers the keys of the new plants. */
  readonly insert: string;
  /** $1 users, $2 ids. Answers the keys of the plants that were there. */
  readonly remove: string;
  /** $1 to $4 as in `insert`, then $5 and $6 as in `remove`. Answers the keys of both. */
  readonly insertAndRemove: string;
  /** $1 limit, $2 user and, behind a plant, $3 its id. */
  readonly list: PageStatement;
  /** As `list`, but answers the whole page in one row. */
  readonly listJson: PageStatement;
  /** $1 limit and, behind a plant, $2 its user and $3 its id. */
  readonly scan: PageStatement;
}

/** Two forms of a statement, because one with `OR` would not be answered from the index. */
interface PageStatement {
  readonly first: string;
  readonly behind: string;
}

/** Makes the statements of a table; `table` is quoted. */
export function statementsFor(table: string): PostgresStatements {
  const insert = `INSERT INTO ${table} ("user", id, name, tag)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
    ON CONFLICT ("user", id) DO NOTHING
    RETURNING "user", id::text AS id`;
  const remove = (users: string, ids: string): string => `DELETE FROM ${table} AS p
    USING unnest(${users}::text[], ${ids}::bigint[]) AS d("user", id)
    WHERE p."user" = d."user" AND p.id = d.id
    RETURNING p."user", p.id::text AS id`;
  const text = 'octet_length(name) + coalesce(octet_length(tag), 0)';
  const ofUser = { where: 'WHERE "user" = $2', behind: 'AND id > $3::bigint', order: 'id', bytes: text };
  // The column's own collation, named once more for tables that somebody else created.
  const ofAll = {
    where: '',
    behind: 'WHERE ("user" COLLATE "C", id) > ($2, $3::bigint)',
    order: '"user" COLLATE "C", id',
    bytes: `octet_length("user") + ${text}`,
  };
  const pages = ({ where, behind, ...read }: Pages, select: (read: PageRead) => string): PageStatement => ({
    first: select({ ...read, from: `${table} ${where}` }),
    behind: select({ ...read, from: `${table} ${where} ${behind}` }),
  });
  return {
    insert,
    remove: remove('$1', '$2'),
    // One statement is one transaction, on whatever connection of the pool.
    insertAndRemove: `WITH created AS (${insert}), removed AS (${remove('$5', '$6')})
      SELECT "user", id FROM created UNION ALL SELECT "user", id FROM removed`,
    list: pages(ofUser, selectPlants),
    listJson: pages(ofUser, selectJson),
    scan: pages(ofAll, selectPlants),
  };
}

interface Pages {
  readonly where: string;
  /** What is added for a page behind a plant. */
  readonly behind: string;
  readonly order: string;
  /** How many bytes a plant counts for. */
  readonly bytes: string;
}

interface PageRead extends Pick<Pages, 'order' | 'bytes'> {
  readonly from: string;
}

/** Plants in order, each with the bytes of the plants before it. */
function measured({ from, order, bytes }: PageRead, limit: string): string {
  return `SELECT "user", id, name, tag, row_number() OVER page AS nth, sum(${bytes}) OVER page - (${bytes}) AS bytes_before
    FROM (SELECT "user", id, name, tag FROM ${from} ORDER BY ${order} LIMIT ${limit}) AS found
    WINDOW page AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)`;
}

function selectPlants(read: PageRead): string {
  return `SELECT "user", page.id::text AS id, name, tag FROM (${measured(read, '$1::bigint')}) AS page
    WHERE bytes_before < ${maxPageBytes} ORDER BY nth`;
}

/** One plant more than asked for is read, which tells whether there is more. */
function selectJson(read: PageRead): string {
  const json = `'{"name":' || to_json(name)::text || coalesce(',"tag":' || to_json(tag)::text, '') || '}'`;
  return `SELECT (count(*) FILTER (WHERE fits))::text AS count,
      (max(id) FILTER (WHERE fits))::text AS last,
      '[' || string_agg(${json}, ',' ORDER BY nth) FILTER (WHERE fits) || ']' AS json,
      (NOT bool_and(fits))::text AS "hasMore"
    FROM (
      SELECT id, name, tag, nth, nth <= $1::bigint AND bytes_before < ${maxPageBytes} AS fits
      FROM (${measured(read, '$1::bigint + 1')}) AS read
    ) AS page`;
}
