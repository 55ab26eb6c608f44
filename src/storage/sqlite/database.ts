import type { DatabaseSync as Database } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from './builtin.ts';
import {
  createPrivateFile,
  damaged,
  hasLog,
  isCutShort,
  refuseOrphanedLog,
  requireFolderOf,
  unsupported,
} from './file.ts';
import { hasResultCode } from './result-code.ts';
import { describeNeededNode } from './version.ts';

/** Distinguishes a plant store from other SQLite files: "PLNT" in ASCII. */
const applicationId = 0x504c4e54;
const schemaVersion = 1;
const schema = `
  CREATE TABLE plants (
    user TEXT NOT NULL,
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    tag TEXT,
    PRIMARY KEY (user, id)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion}`;

/**
 * The number of pages at which SQLite checkpoints the WAL, which then contains about 16 MiB. With 64 clients, a create
 * takes 6% less CPU time than with SQLite's default of 1000 pages, and a delete 13% less, because a page that several
 * commits change is copied only once.
 */
const checkpointPages = 4000;

/**
 * The maximum time that one SQLite call waits for a lock, in milliseconds. The wait blocks the event loop, which delays
 * list requests and signals.
 */
const maxBlockingMs = 100;

/**
 * Opens a plant store's SQLite file in WAL mode with `synchronous=FULL`. Creates the file if it does not exist.
 *
 * @throws {PlantStoreError} `storage_unsupported` if the file is not a plant store, is damaged, was written by a newer
 *   version of this package, or is missing although its WAL exists.
 * @throws {Error} if the file's folder does not exist, or if Node.js uses a version of SQLite that can corrupt the
 *   file.
 */
export function openDatabase(path: string, busyTimeoutMs: number): Database {
  requireSoundSqlite();
  requireFolderOf(path, 'database file');
  refuseOrphanedLog(path);
  createPrivateFile(path);
  // Closing a read-write connection checkpoints the WAL, which would change the file of another application.
  if (hasLog(path)) openChecked(path, 'ro', busyTimeoutMs, () => undefined).close();
  return openChecked(path, 'rw', busyTimeoutMs, (database, version) => {
    if (version === 0) createSchema(database, path);
    enterWalMode(database, busyTimeoutMs);
    // On macOS, a sync without F_FULLFSYNC can leave data in the drive's cache (https://sqlite.org/pragma.html).
    database.exec(`
      PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
      PRAGMA wal_autocheckpoint = ${checkpointPages};
      PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxBlockingMs)}`);
    requireTable(database);
    checkpointOldLog(database);
  });
}

/**
 * Opens an existing plant store's SQLite file for reading. Neither the file nor its WAL is changed.
 *
 * @throws {PlantStoreError} `storage_unsupported` as for {@link openDatabase}, or if the file is empty.
 */
export function openToRead(path: string, busyTimeoutMs: number): Database {
  requireSoundSqlite();
  // A read-only connection does not checkpoint the WAL when it is closed. Without a WAL, it would leave an empty WAL
  // behind.
  return openChecked(path, hasLog(path) ? 'ro' : 'rw', busyTimeoutMs, (database, version) => {
    if (version === 0) throw unsupported(path, 'is empty');
    database.exec('PRAGMA query_only = ON');
    requireTable(database);
  });
}

/** Opens an existing file. If `check` throws an error, closes the file and rethrows the error as a refusal. */
function openChecked(
  path: string,
  mode: 'ro' | 'rw',
  busyTimeoutMs: number,
  check: (database: Database, version: number) => void,
): Database {
  // Without the mode, SQLite would create a missing file: https://www.sqlite.org/uri.html#urimode
  const url = pathToFileURL(path);
  url.search = `?mode=${mode}`;
  const database = new DatabaseSync(url, { timeout: busyTimeoutMs });
  try {
    check(database, readVersion(database, path));
    return database;
  } catch (error) {
    database.close();
    if (hasResultCode(error, 'notADatabase')) throw unsupported(path, 'is not an SQLite database', error);
    throw hasResultCode(error, 'corrupt') || hasResultCode(error, 'error') ? damaged(path, error) : error;
  }
}

/** Checks that the file is a plant store or is new. Returns the schema version, or 0 if the file is new. */
function readVersion(database: Database, path: string): number {
  const version = readPragma(database, 'user_version');
  if (version === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return 0;
  if (readPragma(database, 'application_id') !== applicationId) {
    throw unsupported(path, 'is an SQLite database of another application');
  }
  if (version > schemaVersion) {
    const supported = `this version of plant-store supports version ${schemaVersion}`;
    throw unsupported(path, `has schema version ${version}; ${supported}`);
  }
  if (isCutShort(path, readPragma(database, 'page_count') * readPragma(database, 'page_size'))) {
    throw unsupported(path, 'is damaged: it was cut short');
  }
  return version;
}

/** Creates the table, unless another process that starts at the same time has created it. */
function createSchema(database: Database, path: string): void {
  inTransaction(database, () => {
    if (readVersion(database, path) === 0) database.exec(schema);
  });
}

/**
 * Enters WAL mode. The schema exists already, so that the file header is complete before the WAL contains any commit.
 * If several processes enter WAL mode at the same time, SQLite sometimes fails without waiting for the lock (seen once
 * in 1,200 starts).
 */
function enterWalMode(database: Database, busyTimeoutMs: number): void {
  const deadline = Date.now() + busyTimeoutMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!hasResultCode(error, 'busy') || Date.now() >= deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** Fails if the table does not have these columns. The read opens the WAL. */
function requireTable(database: Database): void {
  database.prepare('SELECT EXISTS (SELECT user, id, name, tag FROM plants)').get();
}

/**
 * Checkpoints a WAL that a crash left behind. If an fsync failed before the crash, the end of the WAL might exist only
 * in memory, and Linux might not write it at the next fsync. A commit after this end would be lost in a power failure:
 * https://wiki.postgresql.org/wiki/Fsync_Errors
 */
function checkpointOldLog(database: Database): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The disk may be full. Plants can still be listed.
  }
}

/**
 * Runs `work` in a transaction and returns its result. If `work` or the commit fails, rolls back the transaction and
 * rethrows the error.
 */
export function inTransaction<T>(database: Database, work: () => T): T {
  // `BEGIN` would acquire the write lock only at the first write, and could then fail without waiting for the lock.
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function readPragma(database: Database, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

/** The version is read with SQL, because `process.versions.sqlite` can be wrong if SQLite is a shared library. */
function requireSoundSqlite(): void {
  const database = new DatabaseSync(':memory:');
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  database.close();
  const needed = describeNeededNode(version);
  if (needed !== undefined) throw new Error(`SqliteStorage needs ${needed}.`);
}
