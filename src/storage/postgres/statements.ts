import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page.ts';

/**
 * The SQL statements for a table, for PostgreSQL 14 and newer. All result columns have the type text, because an
 * application may register its own parsers for other types with the driver.
 */
export interface PostgresStatements {
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
   * Reads one page for each of several requests. Each parameter is an array with one item per request: $1 users, $2
   * smallest ids, $3 limits, $4 maximum sizes of a plant in bytes. Returns a {@link PageRow} for each request.
   */
  readonly pages: string;
  /** Reads a user's plants. Parameters: $1 user, $2 smallest id, $3 limit. */
  readonly list: RangeStatements;
  /** Reads the plants of all users. Parameters: $1 user and $2 id of the plant after which to start, $3 limit. */
  readonly scan: RangeStatements;
}

/** The two statements that read plants in a range of keys. */
export interface RangeStatements {
  /** Returns a {@link PlantRow} for each plant. Names and tags are truncated to $4 characters. */
  readonly plants: string;
  /** Returns a row for each plant. Its `size` is the minimum size of the plant's JSON in bytes. */
  readonly sizes: string;
}

/**
 * A page of a user's plants. If the user has more plants than the limit, the page also contains the first plant beyond
 * the limit.
 */
export interface PageRow {
  /** The index of the request in the parameter arrays, starting at 1. */
  readonly nth: string;
  /** The number of plants in the page, at most the limit + 1. */
  readonly count: string;
  /** The id of the last plant within the limit; `null` if the page is empty. */
  readonly last: string | null;
  /**
   * The JSON of all plants, separated by commas; `null` if the page is empty, if a plant exceeds the maximum size, or
   * if the JSON is large enough to fill a page.
   */
  readonly json: string | null;
}

/** A row that contains a plant. Only `scan` returns the `user` column. */
export interface PlantRow {
  readonly user?: string;
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

/**
 * The SQL expression for the minimum size of a plant's JSON, in bytes. PostgreSQL can compute the minimum size without
 * reading long names and tags. For the exact size, it would have to decompress and escape them.
 */
const size = `octet_length(name) + coalesce(octet_length(tag) + ${taggedBytes}, ${untaggedBytes})`;

const plantJson = `'{"name":' || to_json(name)::text || coalesce(',"tag":' || to_json(tag)::text, '') || '}'`;

/**
 * Returns the statements for a table. `table` is the quoted name of the table. `userOrder` is the SQL expression that
 * sorts users by their bytes.
 */
export function statementsFor(table: string, userOrder: string): PostgresStatements {
  const insert = `INSERT INTO ${table} ("user", id, name, tag)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
    ON CONFLICT ("user", id) DO NOTHING
    RETURNING "user", id::text AS id`;
  const remove = (users: string, ids: string): string => `DELETE FROM ${table} AS p
    USING unnest(${users}::text[], ${ids}::bigint[]) AS d("user", id)
    WHERE p."user" = d."user" AND p.id = d.id
    RETURNING p."user", p.id::text AS id`;
  // These statements are short, because PostgreSQL parses and plans them for each call.
  const plantColumns = 'p.id::text AS id, left(name, $4::integer) AS name, left(tag, $4::integer) AS tag';
  const sizeColumn = `(${size})::text AS size`;
  // ORDER BY must use `p.id`, because `id` would refer to the result column, which has the type text.
  const inList = `FROM ${table} AS p WHERE "user" = $1 AND p.id >= $2::bigint ORDER BY p.id LIMIT $3::bigint`;
  const inScan = `FROM ${table} AS p
    WHERE (${userOrder}, p.id) > ($1, $2::bigint) ORDER BY ${userOrder}, p.id LIMIT $3::bigint`;
  return {
    insert,
    remove: remove('$1', '$2'),
    // A single statement is atomic without an explicit transaction, so it can use any connection of the pool.
    insertAndRemove: `WITH created AS (${insert}), removed AS (${remove('$5', '$6')})
      SELECT "user", id FROM created UNION ALL SELECT "user", id FROM removed`,
    // The planner does not know the value of `most`, and assumes a tenth of the user's plants. The constant limit
    // bounds this estimate. Without it, the estimated cost exceeds jit_above_cost if users have many plants, and
    // PostgreSQL compiles the statement each time: with 40,000 plants per user, 47 lists took 18 ms instead of 3.6 ms.
    //
    // The columns are qualified, because the table may have further columns with the same names.
    pages: `SELECT nth::text AS nth, page.count::text AS count,
        page.ids[least(page.count, request.most)]::text AS last,
        CASE WHEN page.longest <= request.max_size AND octet_length(page.json) < ${maxPageBytes}
          THEN page.json END AS json
      FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
        WITH ORDINALITY AS request("user", first, most, max_size, nth)
      CROSS JOIN LATERAL (
        SELECT count(*) AS count, array_agg(id ORDER BY id) AS ids, max(size) AS longest,
          string_agg(CASE WHEN size <= request.max_size THEN ${plantJson} END, ',' ORDER BY id) AS json
        FROM (
          SELECT id, name, tag, size FROM (
            SELECT p.id, p.name, p.tag, ${size} AS size FROM ${table} AS p
            WHERE p."user" = request."user" AND p.id >= request.first ORDER BY p.id LIMIT ${maxPageLength + 1}
          ) AS bounded ORDER BY id LIMIT request.most + 1
        ) AS found
      ) AS page`,
    list: { plants: `SELECT ${plantColumns} ${inList}`, sizes: `SELECT ${sizeColumn} ${inList}` },
    scan: { plants: `SELECT "user", ${plantColumns} ${inScan}`, sizes: `SELECT ${sizeColumn} ${inScan}` },
  };
}
