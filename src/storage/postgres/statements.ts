import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../../core/page.ts';

/**
 * The SQL statements for a table. The statements require PostgreSQL 14 or newer. All result columns have the type text,
 * because an application can register its own parsers for other types with the driver.
 *
 * PostgreSQL executes a prepared statement with a generic plan if it expects this plan to cost no more than custom
 * plans, which are made for each execution. The statements are written so that PostgreSQL uses the generic plan: see
 * `oneRequest` and `limited`.
 */
export interface PostgresStatements {
  /** Creates a plant. Parameters: $1 user, $2 id, $3 name, $4 tag. */
  readonly insertOne: string;
  /** Deletes a plant. Parameters: $1 user, $2 id. */
  readonly removeOne: string;
  /** Creates plants. Parameters: $1 users, $2 ids, $3 names, $4 tags. Returns the keys of the new plants. */
  readonly insert: string;
  /** Deletes plants. Parameters: $1 users, $2 ids. Returns the keys of the deleted plants. */
  readonly remove: string;
  /**
   * Creates and deletes plants. Parameters: $1 to $4 as in `insert`, $5 users and $6 ids of the plants to delete.
   * Returns the keys of the new plants and of the deleted plants.
   */
  readonly insertAndRemove: string;
  /**
   * Reads one page. Parameters: $1 user, $2 smallest id, $3 limit, $4 maximum size of a plant in bytes. Returns a
   * {@link PageRow}.
   */
  readonly page: string;
  /**
   * Reads one page for each of several requests. The parameters have the same meaning as in `page`, but the first three
   * parameters are arrays with one item per request. Returns a {@link PageRow} with `nth` for each request.
   */
  readonly pages: string;
  /**
   * Reads a user's plants. Parameters: $1 user, $2 smallest id, $3 limit. Returns a {@link PlantRow} for each plant.
   */
  readonly list: string;
  /**
   * Reads the plants of all users. Parameters: $1 user and $2 id of the plant after which to start, $3 limit. Returns a
   * {@link PlantRow} for each plant.
   */
  readonly scan: string;
}

/**
 * A page of a user's plants. If the user has more plants than the limit, the page also contains the first plant beyond
 * the limit.
 */
export interface PageRow {
  /**
   * The index of the request in the parameter arrays, starting at 1. Only the `pages` statement returns this column.
   */
  readonly nth?: string;
  /** The number of plants in the page, at most one more than the limit; `null` if the page is empty. */
  readonly count: string | null;
  /** The id of the last plant within the limit; `null` if the page is empty. */
  readonly last: string | null;
  /** The names and tags, separated by {@link separators}. Plants that exceed the maximum size are omitted. */
  readonly text: string | null;
}

/** A row that contains a plant. Only the `scan` statement returns the `user` column. */
export interface PlantRow {
  readonly user?: string;
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
  /** The number of plants in the range, at most one more than the limit. The number of rows can be lower. */
  readonly found: string;
}

/**
 * The separators in the text of a page. Every separator starts with U+007F, because JSON does not escape this
 * character, and because names and tags rarely contain it.
 */
export const separators = { plant: '\x7f,', tag: '\x7f:', noTag: '\x7f;' } as const;

/**
 * The SQL expression for the minimum size of a plant's JSON, in bytes. PostgreSQL can compute the minimum size without
 * reading long names and tags. To compute the exact size, PostgreSQL would have to decompress and escape the text.
 */
const size = `octet_length(p.name) + coalesce(octet_length(p.tag) + ${taggedBytes}, ${untaggedBytes})`;

const item = `p.name || coalesce('${separators.tag}' || p.tag, '${separators.noTag}')`;

/**
 * An SQL condition that is true for every request. Without this condition, PostgreSQL expects 10 requests in a generic
 * plan, so it makes a custom plan for each smaller group of requests. With the condition, PostgreSQL always expects one
 * request.
 */
const oneRequest = 'request.nth BETWEEN 1 AND 2147483647';

/**
 * Limits the rows of a subquery. PostgreSQL expects an unknown limit to return a tenth of the rows, so it would expect
 * a generic plan to cost more than a custom plan for a small limit. With two unknown limits and one constant limit,
 * PostgreSQL expects at most ten rows. The expected cost of ten rows also stays below `jit_above_cost`, so PostgreSQL
 * does not compile the statement just in time (JIT). With 40,000 plants per user, JIT compilation took 14 of 18 ms.
 */
function limited(subquery: string, limit: string): string {
  const bounded = `SELECT * FROM (${subquery} LIMIT ${maxPageLength + 1}) AS bounded LIMIT ${limit} + 1`;
  return `SELECT * FROM (${bounded}) AS limited LIMIT ${limit} + 1`;
}

/**
 * Returns the statements for a table. `table` is the quoted name of the table. `userOrder` is the SQL expression for
 * sorting users by their UTF-8 bytes.
 */
export function statementsFor(table: string, userOrder: string): PostgresStatements {
  const conflict = 'ON CONFLICT ("user", id) DO NOTHING';
  const insert = `INSERT INTO ${table} ("user", id, name, tag)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
    ${conflict} RETURNING "user", id::text AS id`;
  const remove = (users: string, ids: string): string => `DELETE FROM ${table} AS p
    USING unnest(${users}::text[], ${ids}::bigint[]) WITH ORDINALITY AS request("user", id, nth)
    WHERE p."user" = request."user" AND p.id = request.id AND ${oneRequest}
    RETURNING p."user", p.id::text AS id`;

  /** The result does not depend on additional columns in the table, because all columns are qualified. */
  const pageOf = (user: string, first: string, limit: string): string => `SELECT
    cardinality(array_agg(page.id)) AS count,
    (array_agg(page.id))[least(cardinality(array_agg(page.id)), ${limit})] AS last,
    string_agg(page.item, '${separators.plant}') AS text
    FROM (${limited(
      `SELECT p.id, CASE WHEN ${size} <= $4::integer THEN ${item} END AS item
      FROM ${table} AS p WHERE p."user" = ${user} AND p.id >= ${first} ORDER BY p.id`,
      limit,
    )}) AS page`;
  const columns = 'page.count::text AS count, page.last::text AS last, page.text';

  // `previous` is the total size of the previous plants. The page ends when `previous` reaches `maxPageBytes`.
  const rowsOf = (user: string, order: string, range: string): string => `SELECT ${user} id::text AS id, name, tag,
      found::text AS found
    FROM (
      SELECT p."user", p.id, p.name, p.tag, count(*) OVER () AS found,
        sum(${size}) OVER (ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS previous
      FROM (
        SELECT p."user", p.id, p.name, p.tag FROM ${table} AS p WHERE ${range} ORDER BY ${order} LIMIT $3::bigint + 1
      ) AS p
    ) AS p
    WHERE previous IS NULL OR previous < ${maxPageBytes} ORDER BY ${order} LIMIT $3::bigint`;
  return {
    insertOne: `INSERT INTO ${table} ("user", id, name, tag) VALUES ($1, $2, $3, $4) ${conflict}`,
    removeOne: `DELETE FROM ${table} WHERE "user" = $1 AND id = $2`,
    insert,
    remove: remove('$1', '$2'),
    // A single statement is atomic without an explicit transaction, so it can use any connection of the pool.
    insertAndRemove: `WITH created AS (${insert}), removed AS (${remove('$5', '$6')})
      SELECT "user", id FROM created UNION ALL SELECT "user", id FROM removed`,
    page: `SELECT ${columns} FROM (${pageOf('$1', '$2::bigint', '$3::integer')}) AS page`,
    pages: `SELECT request.nth::text AS nth, ${columns}
      FROM unnest($1::text[], $2::bigint[], $3::integer[]) WITH ORDINALITY AS request("user", first, most, nth)
      CROSS JOIN LATERAL (${pageOf('request."user"', 'request.first', 'request.most')}) AS page
      WHERE ${oneRequest}`,
    list: rowsOf('', 'p.id', 'p."user" = $1 AND p.id >= $2::bigint'),
    scan: rowsOf('p."user",', `${userOrder}, p.id`, `(${userOrder}, p.id) > ($1, $2::bigint)`),
  };
}
