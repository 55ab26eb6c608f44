import { pathToFileURL } from 'node:url';
import { DatabaseSync } from './builtin.ts';
import {
  createPrivateFile,
  damaged,
  hasLog,
  identifyFile,
  isCutShort,
  refuseOrphanedLog,
  requireFolderOf,
  unsupported,
} from './file.ts';
import { tryToCheckpointLog } from './checkpoint.ts';
import { hasResultCode } from './result-code.ts';
import { describeNeededNode } from './version.ts';

/**
 * The application ID in the header of the file, "PLNT" in ASCII. The ID distinguishes a plant store from other SQLite
 * files.
 */
const applicationId = 0x504c4e54;

/**
 * The schema migrations. Entry n migrates a database from version n to version n + 1. Never change an entry after its
 * release.
 */
const migrations = [
  `CREATE TABLE plants (
     user TEXT NOT NULL,
     id INTEGER NOT NULL,
     name TEXT NOT NULL,
     tag TEXT,
     PRIMARY KEY (user, id)
   ) STRICT, WITHOUT ROWID`,
  // In version 1, the columns contained JSON-escaped text. Other programs that read the file expect plain text.
  `UPDATE plants SET name = json_extract('"' || name || '"', '$') WHERE instr(name, '\\') > 0;
   UPDATE plants SET tag = json_extract('"' || tag || '"', '$') WHERE instr(tag, '\\') > 0`,
];

/**
 * The number of pages at which SQLite checkpoints the WAL. With pages of 4 KiB, the WAL then contains about 16 MiB. If
 * several commits change the same page between two checkpoints, the page is copied only once. With 64 clients, a create
 * request takes 6% less CPU time than with SQLite's default of 1000 pages, and a delete request takes 13% less.
 */
const checkpointPages = 4000;

/** If opening a file fails with one of these result codes, the file is damaged. */
const damageCodes = ['error', 'corrupt'] as const;

/**
 * Throws an error if this version of SQLite can corrupt a file. Reads the version with an SQL query, because
 * `process.versions.sqlite` can be wrong if Node.js uses SQLite as a shared library.
 */
function requireSoundSqlite(): void {
  const database = new DatabaseSync(':memory:');
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  database.close();
  const needed = describeNeededNode(version);
  if (needed !== undefined) throw new Error(`SqliteStorage needs ${needed}.`);
}

export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** See `identifyFile`. */
  readonly identity: string;
  /** Whether commits can use the WAL. `false` if the database has a WAL whose content might not be on the disk. */
  readonly isLogTrusted: boolean;
}

/**
 * Opens a plant store's SQLite file in WAL mode with `synchronous=FULL`. Creates the file if it does not exist.
 *
 * @throws {PlantStoreError} `storage_unsupported` if the file is not a plant store, is damaged, was written by a newer
 *   version of this package, or is missing although its WAL exists. Only a damaged file can be changed.
 * @throws {Error} if the file's folder does not exist, or if Node.js uses a version of SQLite that can corrupt the
 *   file.
 */
export function openDatabase(file: string, busyTimeoutMs: number): OpenedDatabase {
  requireSoundSqlite();
  requireFolderOf(file, 'database file');
  refuseOrphanedLog(file);
  createPrivateFile(file);
  const isLogLeft = hasLog(file);
  let identity = '';
  const database = openChecked(file, busyTimeoutMs, (opened) => {
    // The file is identified immediately after it has been opened, because another file could replace it later.
    identity = identifyFile(file);
    setUp(opened, file, busyTimeoutMs);
  });
  return { database, identity, isLogTrusted: !isLogLeft || tryToCheckpointLog(database, busyTimeoutMs) };
}

/**
 * Reopens a plant store's SQLite file after a fault. Does not create a missing file, because an empty file would look
 * like data loss.
 *
 * @throws {Error} if the file does not exist.
 * @throws {PlantStoreError} `storage_unsupported` if the file is no longer a plant store, or if its schema version has
 *   changed.
 */
export function reopenDatabase(file: string, busyTimeoutMs: number): DatabaseSync {
  // `mode=rw` prevents SQLite from creating the file: https://www.sqlite.org/uri.html#urimode
  const url = pathToFileURL(file);
  url.search = '?mode=rw';
  const database = new DatabaseSync(url, { timeout: busyTimeoutMs });
  try {
    if (readVersion(database, file) !== migrations.length) throw unsupported(file, 'no longer has its schema version');
    configure(database, busyTimeoutMs);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens an existing plant store's SQLite file for reading. Does not migrate the schema.
 *
 * @throws {PlantStoreError} `storage_unsupported` if the file is not a plant store, is empty, is damaged, or was
 *   written by a newer version of this package.
 * @throws {Error} if Node.js uses a version of SQLite that can corrupt the file.
 */
export function openExisting(file: string, busyTimeoutMs: number): DatabaseSync {
  requireSoundSqlite();
  return openChecked(file, busyTimeoutMs, (database) => {
    if (readVersion(database, file) === 0) throw unsupported(file, 'is empty');
  });
}

function openChecked(file: string, busyTimeoutMs: number, check: (database: DatabaseSync) => void): DatabaseSync {
  if (hasLog(file)) checkReadOnly(file, busyTimeoutMs);
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  try {
    check(database);
    return database;
  } catch (error) {
    database.close();
    throw asRefusal(file, error);
  }
}

/**
 * Checks that a file with a WAL is a plant store before the file is opened for writing. Uses a read-only connection,
 * because closing the last read-write connection to a file checkpoints its WAL. A checkpoint would change the file even
 * if it belongs to another application.
 */
function checkReadOnly(path: string, busyTimeoutMs: number): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    readVersion(database, path);
  } catch (error) {
    throw asRefusal(path, error);
  } finally {
    database.close();
  }
}

function asRefusal(path: string, error: unknown): unknown {
  if (hasResultCode(error, 'notADatabase')) return unsupported(path, 'is not an SQLite database', error);
  return damageCodes.some((name) => hasResultCode(error, name)) ? damaged(path, error) : error;
}

function setUp(database: DatabaseSync, path: string, busyTimeoutMs: number): void {
  if (readVersion(database, path) < migrations.length) {
    // Several processes can start at the same time. The first process that acquires the write lock migrates the schema.
    inTransaction(database, () => {
      for (const step of migrations.slice(readVersion(database, path))) database.exec(step);
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    });
  }
  configure(database, busyTimeoutMs);
}

function configure(database: DatabaseSync, busyTimeoutMs: number): void {
  enterWalMode(database, busyTimeoutMs);
  database.exec(`PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  // On macOS, a sync without F_FULLFSYNC can leave data in the drive's cache (https://sqlite.org/pragma.html). Systems
  // other than macOS ignore these settings.
  database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  // Preparing this statement fails if the table does not have these columns.
  database.prepare('SELECT user, id, name, tag FROM plants');
}

/** Checks that the file is a plant store or is new. Returns the schema version, or 0 if the file is new. */
function readVersion(database: DatabaseSync, path: string): number {
  const version = readPragma(database, 'user_version');
  if (version > migrations.length) {
    throw unsupported(
      path,
      `has schema version ${version}; this version of plant-store supports versions up to ${migrations.length}`,
    );
  }
  if (version === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return 0;
  if (readPragma(database, 'application_id') !== applicationId) {
    throw unsupported(path, 'is an SQLite database of another application');
  }
  if (isCutShort(path, readPragma(database, 'page_count') * readPragma(database, 'page_size'))) {
    throw unsupported(path, 'is damaged: it was cut short');
  }
  return version;
}

/**
 * Enters WAL mode. Call this function after the migration, so that the file header is complete before the WAL contains
 * any commit.
 *
 * If several processes enter WAL mode concurrently, SQLite sometimes fails without waiting for the lock (seen once in
 * 1,200 starts). This function retries such failures until `busyTimeoutMs` has passed.
 */
function enterWalMode(database: DatabaseSync, busyTimeoutMs: number): void {
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

/**
 * Runs `work` in a transaction and returns its result. If `work` or the commit fails, rolls back the transaction and
 * rethrows the error.
 */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  // `BEGIN IMMEDIATE` acquires the write lock immediately. If a transaction acquired the lock only after a read, SQLite
  // could fail without waiting for the lock.
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // A rollback error is ignored, because the first error is more informative. If the rollback fails,
      // `database.isTransaction` remains true.
    }
    throw error;
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
