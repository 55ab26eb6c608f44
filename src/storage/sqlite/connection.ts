import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page.ts';

/**
 * The SQL expression for the minimum size of a plant's JSON, in bytes. SQLite computes it without reading the text. The
 * JSON is larger if characters have to be escaped.
 */
const jsonBytes = `octet_length(name) + ifnull(octet_length(tag) + ${taggedBytes}, ${untaggedBytes})`;

/**
 * The maximum size of the JSON of a short plant, in bytes. A page of 1000 short plants never reaches the size of a full
 * page, so all of its rows can be read at once.
 */
const maxShortBytes = Math.floor(maxPageBytes / maxPageLength);
/** The SQL condition that is true for a short plant. */
const isShort = `${jsonBytes} <= ${maxShortBytes}`;

/**
 * The number of plants at the start of a page that are checked first. If all of them are short, the page is read as a
 * page of short plants. Otherwise, it is read row by row. Without the check, a page with a longer plant would always be
 * read twice: first as a page of short plants, whose rows are discarded, and then row by row.
 */
const probedPlants = 32;

/** The clauses that select a user's plants, starting at an id. The value of LIMIT must follow. */
const ofUser = 'FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT';

/** The clauses that select the plants of all users, starting after a key. The value of LIMIT must follow. */
const ofAll = 'FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT';

/**
 * With `LIMIT ?`, SQLite would recompile the statement each time it runs, which takes a fifth of the CPU time of a list
 * request. `LIMIT ? + 0` prevents this.
 */
const selectPlants = `SELECT id, name, tag ${ofUser} ? + 0`;
const selectOwned = `SELECT id, name, tag, user ${ofAll} ? + 0`;

/**
 * The SQL expression for the value of LIMIT in a statement that reads a page of short plants. It checks the first
 * `probedPlants` plants and evaluates to 0 if one of them is not short. The check adds 1% to the time for a page of
 * 1000 plants. It is omitted if the requested limit is at most `probedPlants`.
 */
const limitIfShort = (range: string): string => `
  CASE WHEN ? > ${probedPlants} AND EXISTS (SELECT 1 FROM (SELECT ${isShort} AS short ${range} ${probedPlants}) WHERE NOT short)
    THEN 0 ELSE ? + 0 END`;

/**
 * The SQL for the `name` and `tag` columns in a statement that reads a page of short plants. The name is NULL if the
 * plant is not short. The tag is NULL if the tag alone is larger than `maxShortBytes`. SQLite therefore never reads a
 * long string.
 */
const shortColumns = `CASE WHEN ${isShort} THEN name END, CASE WHEN octet_length(tag) <= ${maxShortBytes} THEN tag END`;
const selectShortPlants = `SELECT id, ${shortColumns} ${ofUser} ${limitIfShort(ofUser)}`;
const selectShortOwned = `SELECT id, ${shortColumns}, user ${ofAll} ${limitIfShort(ofAll)}`;

const plantJson = `CASE WHEN tag IS NULL THEN json_object('name', name) ELSE json_object('name', name, 'tag', tag) END`;

/**
 * The SQL statement that reads a page of short plants as one row. `count` is the number of plants, and `shorts` is the
 * number of short plants. If the two numbers differ, `json` is incomplete, because it contains only the short plants.
 * Building the JSON in SQL takes half as long as building it in JavaScript.
 */
const selectShortJson = `
  SELECT count, last, shorts, json, count = ? AND EXISTS (SELECT 1 FROM plants WHERE user = ? AND id > last)
  FROM (
    SELECT count(*) AS count, max(id) AS last, count(short) AS shorts, '[' || group_concat(short) || ']' AS json
    FROM (
      SELECT id, CASE WHEN ${isShort} THEN ${plantJson} END AS short
      ${ofUser} ${limitIfShort(ofUser)}
    )
  )`;

/**
 * The maximum time that one SQLite call waits for a lock, in milliseconds. The wait blocks the event loop, which delays
 * list requests and signals.
 */
export const maxBlockingMs = 100;

/** A connection to a plant store's file, with its prepared statements. After a fault, a new connection replaces it. */
export class SqliteConnection {
  readonly database: DatabaseSync;
  readonly insert: StatementSync;
  readonly delete: StatementSync;
  readonly selectPlants: StatementSync;
  readonly selectOwned: StatementSync;
  readonly selectShortPlants: StatementSync;
  readonly selectShortOwned: StatementSync;
  readonly selectShortJson: StatementSync;
  readonly selectVersion: StatementSync;

  constructor(database: DatabaseSync, busyTimeoutMs: number) {
    this.database = database;
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxBlockingMs)}`);
    this.insert = database.prepare(
      'INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.delete = database.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
    this.selectPlants = prepareSelect(database, selectPlants);
    this.selectOwned = prepareSelect(database, selectOwned);
    this.selectShortPlants = prepareSelect(database, selectShortPlants);
    this.selectShortOwned = prepareSelect(database, selectShortOwned);
    this.selectShortJson = prepareSelect(database, selectShortJson);
    this.selectVersion = prepareSelect(database, 'PRAGMA data_version');
  }
}

function prepareSelect(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  // The options of prepare() are not used, because Node.js 22 ignores them.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
