import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { createPrivateFile, hasLog, identifyFile, isCutShort, unsupported } from './file.ts';
import { tryToTakeInLog } from './checkpoint.ts';
import { hasResultCode } from './result-code.ts';
import { describeNeededNode } from './version.ts';

/** "PLNT": what tells a plant store from other SQLite files. */
const applicationId = 0x504c4e54;

/**
 * Entry n migrates a database from version n to n + 1. Never change one that was released.
 * The columns name and tag hold a text as it is inside a JSON string: see text.ts.
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

/** At opening these mean that the content is not what it should be. */
const damageCodes = ['error', 'corrupt'] as const;

/** Asks SQLite itself, because `process.versions.sqlite` is not exact if Node.js was built with a shared library. */
function requireSoundSqlite(): void {
  const database = new DatabaseSync(':memory:');
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  database.close();
  const needed = describeNeededNode(version);
  if (needed !== undefined) throw new Error(`SqliteStorage needs ${needed}.`);
}

/** A database that was opened. */
export interface OpenedDatabase {
  readonly database: DatabaseSync;
  /** Whether it can take commits; `false` where there is a log that may not be on the disk. */
  readonly isLogTrusted: boolean;
}

/**
 * Opens a plant store's SQLite file, or makes it, in WAL mode and with `synchronous=FULL`.
 *
 * @throws {PlantStoreError} `storage_unsupported` where the file is not a plant store, is
 *   damaged, or comes from a newer version of this package; it is left as it is.
 * @throws {Error} if this Node.js bundles an SQLite that can corrupt the file.
 */
export function openDatabase(file: string, busyTimeoutMs: number): OpenedDatabase {
  requireSoundSqlite();
  createPrivateFile(file);
  const isLogLeft = hasLog(file);
  const database = openChecked(file, busyTimeoutMs, (opened) => { setUp(opened, file, busyTimeoutMs); });
  return { database, isLogTrusted: !isLogLeft || tryToTakeInLog(database, busyTimeoutMs) };
}

/**
 * Opens a plant store's SQLite file again after a fault.
 *
 * @throws {Error} where the file is not the one that was open before, above all where there is
 *   none: a new one would look as if all were lost; and as {@link openDatabase}.
 */
export function reopenDatabase(file: string, identity: string, busyTimeoutMs: number): DatabaseSync {
  if (identifyFile(file) !== identity) throw new Error(`${file} is another file than before`);
  // https://www.sqlite.org/uri.html#urimode: rw makes no file.
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
 * Opens a plant store's SQLite file that is there, in whatever version its schema is, to read it.
 *
 * @throws {PlantStoreError} `storage_unsupported` as {@link openDatabase}.
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
 * Looks at a file that has a log before it is opened for good: closing the last connection that can
 * write takes the log into the file, and another application's file is to be left as it is.
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
  if (readVersion(database, path) < migrations.length) inTransaction(database, () => { migrate(database, path); });
  configure(database, busyTimeoutMs);
}

function configure(database: DatabaseSync, busyTimeoutMs: number): void {
  enterWalMode(database, busyTimeoutMs);
  database.exec('PRAGMA synchronous = FULL');
  // Compiling it finds out whether the table is what it should be.
  database.prepare('SELECT user, id, name, tag FROM plants');
}

/** The version of the schema in the file; 0 where the file is new. */
function readVersion(database: DatabaseSync, path: string): number {
  const version = readPragma(database, 'user_version');
  if (version > migrations.length) {
    throw unsupported(path, `has schema version ${version}; this version of plant-store knows up to ${migrations.length}`);
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

/** Under the write lock, so that of several processes that start at once one does the work. */
function migrate(database: DatabaseSync, path: string): void {
  for (const step of migrations.slice(readVersion(database, path))) database.exec(step);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
}

/**
 * Last, so that the file's own header is complete before any content is in the log alone.
 * Where several processes enter WAL mode at once, SQLite fails at times without waiting for the
 * lock (seen once in 1,200 starts), so the waiting is done here.
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
  // IMMEDIATE takes the write lock now: taking it later, after a read, can fail without waiting.
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch {
      // What went wrong first says more; that the transaction is still open can be asked.
    }
    throw error;
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
