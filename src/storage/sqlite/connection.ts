import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page-bounds.ts';

/** The bytes of a plant's JSON, which SQLite knows without reading a text: the columns hold texts as they are in JSON. */
const jsonBytes = `octet_length(name) + ifnull(octet_length(tag) + ${taggedBytes}, ${untaggedBytes})`;

/** A page of plants of this many bytes each is never full. */
const maxShortBytes = Math.floor(maxPageBytes / maxPageLength);
const isShort = `${jsonBytes} <= ${maxShortBytes}`;

/** How many plants are probed before a page of short plants is read, which is discarded if one of them is longer. */
const probedPlants = 32;

/** A user's plants from an id on. */
const ofUser = 'FROM plants WHERE user = ? AND id >= ? ORDER BY id LIMIT';

/** All users' plants after a key. */
const ofAll = 'FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT';

/** `+ 0`, because node:sqlite compiles a statement with a bare `LIMIT ?` anew at every run (a fifth of a list's CPU). */
const selectPlants = `SELECT id, name, tag ${ofUser} ? + 0`;
const selectOwned = `SELECT id, name, tag, user ${ofAll} ? + 0`;

/** The limit of a page of short plants: 0 if one of the first plants is not short. A probe adds 1 % to a page of 1000. */
const limitIfShort = (range: string): string => `
  CASE WHEN ? > ${probedPlants} AND EXISTS (SELECT 1 FROM (SELECT ${isShort} AS short ${range} ${probedPlants}) WHERE NOT short)
    THEN 0 ELSE ? + 0 END`;

/** The name of a plant that is not short is NULL. No tag of a short plant is over the bound of the second column. */
const shortColumns = `CASE WHEN ${isShort} THEN name END, CASE WHEN octet_length(tag) <= ${maxShortBytes} THEN tag END`;
const selectShortPlants = `SELECT id, ${shortColumns} ${ofUser} ${limitIfShort(ofUser)}`;
const selectShortOwned = `SELECT id, ${shortColumns}, user ${ofAll} ${limitIfShort(ofAll)}`;

/** A page in one row: putting the JSON together here takes half the time of doing it in JavaScript. */
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

/** SQLite waits for a lock within the call: who stands still for longer answers no signal and no list meanwhile. */
export const maxStandstillMs = 100;

/** A connection to a plant store's file, with all its statements: what is replaced as one after a fault. */
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
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxStandstillMs)}`);
    this.insert = database.prepare('INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING');
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
  // Not as options of prepare(): Node 22 ignores them there.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
