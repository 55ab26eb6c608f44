import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page-bounds.ts';

/**
 * The minimum size of a plant's JSON, in bytes. PostgreSQL can determine it without reading a long string. For the
 * exact size, it would have to decompress and escape the string. If exact sizes are larger, PostgreSQL returns more
 * plants than fit in the page, and Node.js drops the excess.
 */
const fewestBytes = `(octet_length(name) + coalesce(octet_length(tag) + ${taggedBytes}, ${untaggedBytes}))`;

/** PostgreSQL builds a page's JSON only if no plant is longer than this, so it never builds much more than a page. */
const maxShortPlantBytes = 3 * Math.floor(maxPageBytes / maxPageLength);

/**
 * The statements for a table, for PostgreSQL 14 and newer. All result columns have the type text, because applications
 * set their own parsers for other types, but not for text.
 */
export interface PostgresStatements {
  /** $1 users, $2 ids, $3 names, $4 tags. Returns the keys of the new plants. */
  readonly insert: string;
  /** $1 users, $2 ids. Returns the keys of the plants that existed. */
  readonly remove: string;
  /** $1 to $4 as in `insert`, then $5 and $6 as $1 and $2 of `remove`. Returns the keys that both return. */
  readonly insertAndRemove: string;
  /** $1 limit, $2 user and, after a plant, $3 its id. Only for few plants, because the page size is not limited. */
  readonly listFew: PageStatement;
  /** Like `listFew`, but stops after the plant that fills a page, or some plants later. */
  readonly list: PageStatement;
  /** Like `listFew`, but returns one row with the page. Its JSON is NULL if the page may be full before the limit. */
  readonly listJson: PageStatement;
  /** $1 is the limit. After a plant, $2 is its user and $3 its id. Stops under the same conditions as `list`. */
  readonly scan: PageStatement;
}

/** Two forms of a statement, because a single form with `OR` would not use the index. */
export interface PageStatement {
  readonly first: string;
  readonly next: string;
}

/** Returns the statements for a table. `table` is the quoted name. */
export function statementsFor(table: string): PostgresStatements {
  const insert = `INSERT INTO ${table} ("user", id, name, tag)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
    ON CONFLICT ("user", id) DO NOTHING
    RETURNING "user", id::text AS id`;
  const remove = (users: string, ids: string): string => `DELETE FROM ${table} AS p
    USING unnest(${users}::text[], ${ids}::bigint[]) AS d("user", id)
    WHERE p."user" = d."user" AND p.id = d.id
    RETURNING p."user", p.id::text AS id`;
  const ofUser = { where: 'WHERE "user" = $2', next: 'AND id > $3::bigint', order: 'id' };
  // Specifies the collation explicitly, for tables that this package did not create.
  const ofAll = {
    where: '',
    next: 'WHERE ("user" COLLATE "C", id) > ($2, $3::bigint)',
    order: '"user" COLLATE "C", id',
  };
  const pages = ({ where, next, ...read }: Pages, select: (read: PageRead) => string): PageStatement => ({
    first: select({ ...read, from: `${table} AS p ${where}` }),
    next: select({ ...read, from: `${table} AS p ${where} ${next}` }),
  });
  return {
    insert,
    remove: remove('$1', '$2'),
    // A single statement is a transaction and can use any connection of the pool.
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
  /** The additional condition for a page that starts after a plant. */
  readonly next: string;
  readonly order: string;
}

interface PageRead extends Pick<Pages, 'order'> {
  readonly from: string;
}

/** Selects plants in order. */
function found({ from, order }: PageRead): string {
  return `SELECT "user", id, name, tag FROM ${from} ORDER BY ${order} LIMIT $1::bigint`;
}

/**
 * Selects a few plants. Avoids a subquery, because PostgreSQL plans the statement at every run. Orders by the column
 * `p.id`, because `id` would refer to the text in the result.
 */
function selectFew({ from }: PageRead): string {
  return `SELECT "user", p.id::text AS id, name, tag FROM ${from} ORDER BY p.id LIMIT $1::bigint`;
}

/** Selects a page of limited size. Adding up the sizes of a thousand plants takes as long as reading the plants. */
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
