import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { maxPageLength, maxPageText } from './page-bounds.ts';

/** A page with a plant of more bytes than this is made of objects, where its text can be bounded. */
const maxShortPlantBytes = Math.floor(maxPageText / maxPageLength);

/** `+ 0`, because node:sqlite compiles a statement with a bare `LIMIT ?` anew at every run (a fifth of a list's CPU). */
const selectPlants = 'SELECT id, name, tag FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT ? + 0';

const selectOwned = 'SELECT user, id, name, tag FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT ? + 0';

/** A page in one row: putting the JSON together here takes half the time of doing it in JavaScript. */
const selectPage = `
  SELECT count, last, shorts, json, count = ? AND EXISTS (SELECT 1 FROM plants WHERE user = ? AND id > last)
  FROM (
    SELECT count(*) AS count, max(id) AS last, count(short) AS shorts, '[' || group_concat(short) || ']' AS json
    FROM (
      SELECT id, CASE WHEN octet_length(name) + ifnull(octet_length(tag), 0) <= ${maxShortPlantBytes}
        THEN '{"name":"' || name || CASE WHEN tag IS NULL THEN '"}' ELSE '","tag":"' || tag || '"}' END END AS short
      FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT ? + 0
    )
  )`;

/** SQLite waits for a lock within the call: who stands still for longer answers no signal and no list meanwhile. */
export const maxStandstillMs = 100;

/** A connection to a plant store's file, with all its statements: what is replaced as one after a fault. */
export class SqliteConnection {
  readonly database: DatabaseSync;
  readonly insert: StatementSync;
  readonly delete: StatementSync;
  readonly selectPlants: StatementSync;
  readonly selectOwned: StatementSync;
  readonly selectPage: StatementSync;
  readonly selectVersion: StatementSync;

  constructor(database: DatabaseSync, busyTimeoutMs: number) {
    this.database = database;
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxStandstillMs)}`);
    this.insert = database.prepare('INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
    this.delete = database.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
    this.selectPlants = prepareSelect(database, selectPlants);
    this.selectOwned = prepareSelect(database, selectOwned);
    this.selectPage = prepareSelect(database, selectPage);
    this.selectVersion = prepareSelect(database, 'PRAGMA data_version');
  }
}

function prepareSelect(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  // Not as options of prepare(): Node 22 ignores them there.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
