import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../../core/page.ts';

/**
 * An SQL condition that is true for a short plant. A short plant is a plant whose name and tag are so short that 1000
 * such plants do not reach the size of a page. Escaping is ignored: if many characters must be escaped, the JSON of
 * 1000 short plants can be larger than a page. SQLite evaluates the condition without reading the text.
 */
const isShort = `octet_length(name) + ifnull(octet_length(tag) + ${taggedBytes}, ${untaggedBytes})
  <= ${Math.floor(maxPageBytes / maxPageLength)}`;

const plantJson = `CASE WHEN tag IS NULL THEN json_object('name', name) ELSE json_object('name', name, 'tag', tag) END`;

/** The SQL clauses that select a user's plants, starting at an id. The value of LIMIT must follow these clauses. */
const ofUser = 'FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT';

/**
 * The SQL expression for the value of LIMIT in `selectJson`. The value is 0 if one of the first 32 plants is not short,
 * because the page is then read row by row. Without this check, reading a page of 1000 plants with names of 26 KB would
 * take eight times as long. The check is omitted if the limit is 32 or less.
 *
 * With `LIMIT ?`, SQLite would recompile the statement for each execution, which takes a fifth of a list request's CPU
 * time. `LIMIT ? + 0` prevents the recompilation.
 */
const limitIfShort = `
  CASE WHEN ? > 32 AND EXISTS (SELECT 1 FROM (SELECT ${isShort} AS short ${ofUser} 32) WHERE NOT short)
    THEN 0 ELSE ? + 0 END`;

/**
 * Reads a page as one row. `count` is the number of plants in the page, and `shorts` is the number of short plants. If
 * the two numbers differ, `json` is incomplete, because it contains only the short plants. Building the JSON in SQL
 * takes half as long as building it in JavaScript.
 */
const selectJson = `
  SELECT count, last, shorts, json, count = ? AND EXISTS (SELECT 1 FROM plants WHERE user = ? AND id > last)
  FROM (
    SELECT count(*) AS count, max(id) AS last, count(short) AS shorts, '[' || group_concat(short) || ']' AS json
    FROM (SELECT id, CASE WHEN ${isShort} THEN ${plantJson} END AS short ${ofUser} ${limitIfShort})
  )`;

/**
 * The maximum time that one SQLite call waits for a lock, in milliseconds. The wait blocks the event loop, which delays
 * list requests and signals.
 */
export const maxBlockingMs = 100;

/**
 * A connection to a plant store's file, with its prepared statements. After a fault, the connection is replaced by a
 * new one.
 */
export class SqliteConnection {
  readonly database: DatabaseSync;
  readonly insert: StatementSync;
  readonly delete: StatementSync;
  /** Parameters: limit, user, user, smallest id, limit, user, smallest id, limit. */
  readonly selectJson: StatementSync;
  /** Parameters: user, smallest id, limit. */
  readonly selectPlants: StatementSync;
  /** Reads the plants of all users. Parameters: user and id of the plant after which to start, limit. */
  readonly selectOwned: StatementSync;
  readonly selectVersion: StatementSync;

  constructor(database: DatabaseSync, busyTimeoutMs: number) {
    this.database = database;
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxBlockingMs)}`);
    this.insert = database.prepare(
      'INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.delete = database.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
    this.selectJson = prepareSelect(database, selectJson);
    this.selectPlants = prepareSelect(database, `SELECT id, name, tag ${ofUser} ? + 0`);
    this.selectOwned = prepareSelect(
      database,
      'SELECT id, name, tag, user FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT ? + 0',
    );
    this.selectVersion = prepareSelect(database, 'PRAGMA data_version');
  }
}

function prepareSelect(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  // These methods are called because Node.js 22 ignores the corresponding options of `prepare()`.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
