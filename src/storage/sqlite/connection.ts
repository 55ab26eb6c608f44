import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page-bounds.ts';

/** The size in bytes of a plant's JSON. SQLite can tell it without reading the text, which is stored in JSON form. */
const jsonBytes = `octet_length(name) + ifnull(octet_length(tag) + ${taggedBytes}, ${untaggedBytes})`;

/** A page never becomes full if its plants have at most this many bytes each. */
const maxShortBytes = Math.floor(maxPageBytes / maxPageLength);
const isShort = `${jsonBytes} <= ${maxShortBytes}`;

/** How many plants to probe before a page of short plants is read. The page is discarded if a later plant is longer. */
const probedPlants = 32;

/** Selects a user's plants, starting at an id. */
const ofUser = 'FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT';

/** Selects the plants of all users after a key. */
const ofAll = 'FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT';

/** Without `+ 0`, node:sqlite recompiles a `LIMIT ?` statement at every run, a fifth of the CPU time of a list. */
const selectPlants = `SELECT id, name, tag ${ofUser} ? + 0`;
const selectOwned = `SELECT id, name, tag, user ${ofAll} ? + 0`;

/** The limit for a page of short plants: 0 if a probed plant is not short. The probe adds 1 % to a page of 1000. */
const limitIfShort = (range: string): string => `
  CASE WHEN ? > ${probedPlants} AND EXISTS (SELECT 1 FROM (SELECT ${isShort} AS short ${range} ${probedPlants}) WHERE NOT short)
    THEN 0 ELSE ? + 0 END`;

/** Selects NULL as the name if the plant is not short, and NULL as a tag that is longer than any in a short plant. */
const shortColumns = `CASE WHEN ${isShort} THEN name END, CASE WHEN octet_length(tag) <= ${maxShortBytes} THEN tag END`;
const selectShortPlants = `SELECT id, ${shortColumns} ${ofUser} ${limitIfShort(ofUser)}`;
const selectShortOwned = `SELECT id, ${shortColumns}, user ${ofAll} ${limitIfShort(ofAll)}`;

/** Selects a page as one row. Building the JSON in SQL takes half as long as in JavaScript. */
const selectShortJson = `
  SELECT count, last, shorts, json, count = ? AND EXISTS (SELECT 1 FROM plants WHERE user = ? AND id > last)
  FROM (
    SELECT count(*) AS count, max(id) AS last, count(short) AS shorts, '[' || group_concat(short) || ']' AS json
    FROM (
      SELECT id, CASE WHEN ${isShort}
        THEN '{"name":"' || name || CASE WHEN tag IS NULL THEN '"}' ELSE '","tag":"' || tag || '"}' END END AS short
      ${ofUser} ${limitIfShort(ofUser)}
    )
  )`;

/** The longest wait for a lock inside an SQLite call. It blocks the event loop, which delays signals and lists. */
export const maxBlockingMs = 100;

/** A connection to a plant store's file, with all prepared statements. After a fault, the whole object is replaced. */
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
  // These are not options of prepare(), because Node 22 ignores them there.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
