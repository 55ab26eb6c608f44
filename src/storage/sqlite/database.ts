import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { createPrivateFile, hasLog, identifyFile, isCutShort, unsupported } from './file.ts';
import { tryToCheckpointLog } from './checkpoint.ts';
import { hasResultCode } from './result-code.ts';
import { describeNeededNode } from './version.ts';

/** "PLNT" in ASCII. It distinguishes a plant store from other SQLite files. */
const applicationId = 0x504c4e54;

/**
 * The schema migrations. Entry n migrates a database from version n to n + 1. Never change an entry after its release.
 * The columns name and tag hold a string in the form that it has inside a JSON string: see text.ts.
 */
const migrations = [
  `CREATE TABLE plants (
     user TEXT NOT NULL,
     id INTEGER NOT NULL,
     name TEXT NOT NULL,
     tag TEXT,
     PRIMARY KEY (user, id)
   ) STRICT, WITHOUT ROWID`,
];

/** If opening a file fails with one of these result codes, its content is damaged. */
const damageCodes = ['error', 'corrupt'] as const;

/** Checks SQLite's version. Queries SQLite, because `process.versions.sqlite` may be wrong with a shared library. */
function requireSoundSqlite(): void {
  const database = new DatabaseSync(':memory:');
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  database.close();
  const needed = describeNeededNode(version);
  if (needed !== undefined) throw new Error(`SqliteStorage needs ${needed}.`);
}

/** An opened database. */
export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** Whether the database can accept commits; `false` if it has a WAL whose content may not be on the disk. */
  readonly isLogTrusted: boolean;
}

/**
 * Opens a plant store's SQLite file in WAL mode and with `synchronous=FULL`. A missing file is created.
 *
 * @throws {PlantStoreError} `storage_unsupported` if the file is not a plant store, is damaged, or was written by a
 *   newer version of this package; the file stays unchanged.
 * @throws {Error} if this Node.js bundles an SQLite that can corrupt the file.
 */
export function openDatabase(file: string, busyTimeoutMs: number): OpenedDatabase {
  requireSoundSqlite();
  createPrivateFile(file);
  const isLogLeft = hasLog(file);
  const database = openChecked(file, busyTimeoutMs, (opened) => {
    setUp(opened, file, busyTimeoutMs);
  });
  return { database, isLogTrusted: !isLogLeft || tryToCheckpointLog(database, busyTimeoutMs) };
}

/**
 * Reopens a plant store's SQLite file after a fault.
 *
 * @throws {Error} if the file is missing or is not the file that was open before, because an empty new file would look
 *   like data loss; otherwise the same errors as {@link openDatabase}.
 */
export function reopenDatabase(file: string, identity: string, busyTimeoutMs: number): DatabaseSync {
  if (identifyFile(file) !== identity) throw new Error(`${file} is another file than before`);
  // The mode rw does not create a file: https://www.sqlite.org/uri.html#urimode
  const url = pathToFileURL(file);
  url.search = '?mode=rw';
  const database = new DatabaseSync(url, { timeout: busyTimeoutMs });
  try {
    if (readVersion(database, file) !== migrations.length) throw unsupported(file, 'is not what it was');
    configure(database, busyTimeoutMs);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Opens an existing plant store's SQLite file for reading, without migrating its schema.
 *
 * @throws {PlantStoreError} `storage_unsupported` in the same cases as {@link openDatabase}.
 * @throws {Error} if this Node.js bundles an SQLite that can corrupt the file.
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
 * Checks a file that has a WAL before the file is opened for writing. Closing the last read-write connection
 * checkpoints the WAL, but another application's file must stay unchanged.
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
  return damageCodes.some((name) => hasResultCode(error, name)) ? unsupported(path, 'is damaged', error) : error;
}

function setUp(database: DatabaseSync, path: string, busyTimeoutMs: number): void {
  if (readVersion(database, path) < migrations.length) {
    inTransaction(database, () => {
      migrate(database, path);
    });
  }
  configure(database, busyTimeoutMs);
}

function configure(database: DatabaseSync, busyTimeoutMs: number): void {
  enterWalMode(database, busyTimeoutMs);
  database.exec('PRAGMA synchronous = FULL');
  // Compiling this statement checks that the table has these columns.
  database.prepare('SELECT user, id, name, tag FROM plants');
}

/** Returns the file's schema version, or 0 if the file is new. */
function readVersion(database: DatabaseSync, path: string): number {
  const version = readPragma(database, 'user_version');
  if (version > migrations.length) {
    throw unsupported(
      path,
      `has schema version ${version}; this version of plant-store knows up to ${migrations.length}`,
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

/** Migrates the schema. Runs under the write lock, so that only one of several starting processes does the work. */
function migrate(database: DatabaseSync, path: string): void {
  for (const step of migrations.slice(readVersion(database, path))) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
}

/**
 * Enters WAL mode. This step follows the migration, so that the file's header is complete before any content is only in
 * the WAL. If several processes enter WAL mode concurrently, SQLite sometimes fails without waiting for the lock (seen
 * once in 1,200 starts), so this function waits instead.
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

export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  // IMMEDIATE acquires the write lock now. Acquiring it after a read can fail without waiting.
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // The first error is more informative. `isTransaction` shows that the transaction is still open.
    }
    throw error;
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
