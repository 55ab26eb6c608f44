import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page-bounds.ts';

/**
 * The fewest bytes that a plant's JSON can have. PostgreSQL knows them without reading a long text, while it would
 * have to decompress and escape it to count the bytes of its JSON. Where JSON takes more, a page has some plants too
 * many, which are left out of it here.
 */
const fewestBytes = `(octet_length(name) + coalesce(octet_length(tag) + ${taggedBytes}, ${untaggedBytes}))`;

/** PostgreSQL makes the JSON of a page if no plant is longer, so that it never makes much more than a page takes. */
const maxShortPlantBytes = 3 * Math.floor(maxPageBytes / maxPageLength);

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
  /** $1 limit, $2 user and, behind a plant, $3 its id. For a few plants, since nothing bounds their text. */
  readonly listFew: PageStatement;
  /** As `listFew`, but stops after the plant by which a page is full, or some plants later. */
  readonly list: PageStatement;
  /** As `listFew`, but answers the page in one row; without its JSON if the page is full before its limit, or may be. */
  readonly listJson: PageStatement;
  /** $1 limit and, behind a plant, $2 its user and $3 its id. Stops as `list` does. */
  readonly scan: PageStatement;
}

/** Two forms of a statement, because one with `OR` would not be answered from the index. */
export interface PageStatement {
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
  const ofUser = { where: 'WHERE "user" = $2', behind: 'AND id > $3::bigint', order: 'id' };
  // The column's own collation, named once more for tables that somebody else created.
  const ofAll = {
    where: '',
    behind: 'WHERE ("user" COLLATE "C", id) > ($2, $3::bigint)',
    order: '"user" COLLATE "C", id',
  };
  const pages = ({ where, behind, ...read }: Pages, select: (read: PageRead) => string): PageStatement => ({
    first: select({ ...read, from: `${table} AS p ${where}` }),
    behind: select({ ...read, from: `${table} AS p ${where} ${behind}` }),
  });
  return {
    insert,
    remove: remove('$1', '$2'),
    // One statement is one transaction, on whatever connection of the pool.
    insertAndRemove: `WITH created AS (${insert}), removed AS (${remove('$5', '$6')})
      SELECT "user", id FROM created UNION ALL SELECT "user", id FROM removed`,
    listFew: pages(ofUser, selectFew),
    list: pages(ofUser, selectPlants),
    listJson: pages(ofUser, (read) => selectJson(read, `${table} AS others WHERE "user" = $2`)),
    scan: pages(ofAll, selectPlants),
  };
}

interface Pages {
  readonly where: string;
  /** What is added for a page behind a plant. */
  readonly behind: string;
  readonly order: string;
}

interface PageRead extends Pick<Pages, 'order'> {
  readonly from: string;
}

/** Plants in order. */
function found({ from, order }: PageRead): string {
  return `SELECT "user", id, name, tag FROM ${from} ORDER BY ${order} LIMIT $1::bigint`;
}

/** Flat, because PostgreSQL plans it anew each time. `p.id` is the column; `id` alone would be the text. */
function selectFew({ from }: PageRead): string {
  return `SELECT "user", p.id::text AS id, name, tag FROM ${from} ORDER BY p.id LIMIT $1::bigint`;
}

/** Adding up the bytes of a thousand plants takes PostgreSQL as long as reading them. */
function selectPlants(read: PageRead): string {
  return `SELECT "user", page.id::text AS id, name, tag
    FROM (
      SELECT "user", id, name, tag, row_number() OVER page AS nth, sum(${fewestBytes}) OVER page - ${fewestBytes} AS bytes_before
      FROM (${found(read)}) AS found
      WINDOW page AS (ORDER BY ${read.order} ROWS UNBOUNDED PRECEDING)
    ) AS page
    WHERE bytes_before < ${maxPageBytes} ORDER BY nth`;
}

function selectJson(read: PageRead, others: string): string {
  const json = `'{"name":' || to_json(name)::text || coalesce(',"tag":' || to_json(tag)::text, '') || '}'`;
  return `SELECT count::text AS count, last::text AS last,
      CASE WHEN shorts = count AND octet_length(json) < ${maxPageBytes} THEN '[' || json || ']' END AS json,
      (count = $1::bigint AND EXISTS (SELECT FROM ${others} AND others.id > last))::text AS "hasMore"
    FROM (
      SELECT count(*) AS count, max(id) AS last, count(*) FILTER (WHERE is_short) AS shorts,
        string_agg(CASE WHEN is_short THEN ${json} END, ',' ORDER BY id) AS json
      FROM (SELECT id, name, tag, ${fewestBytes} <= ${maxShortPlantBytes} AS is_short FROM (${found(read)}) AS found) AS measured
    ) AS page`;
}
