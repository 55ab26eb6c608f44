import { existsSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { NoStoreError } from '../../core/model/errors.ts';
import { hasFile } from '../../files/file.ts';
import { damaged, hasWal, prepareFile, requireUsable, unsupported, walFilesOf } from './file.ts';
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
 * A longer WAL, for example after a slow backup, is truncated to this size. In normal use, the WAL is shorter and keeps
 * its size, because an fsync takes longer while a file grows.
 */
const maxKeptWalBytes = 67_108_864;

export const defaultBusyTimeoutMs = 5000;

/** The maximum time that an SQLite call blocks the event loop to wait for a lock, after the file has been opened. */
const maxBlockingMs = 100;

export function openDatabase(path: string, busyTimeoutMs: number): DatabaseSync {
  requireSoundSqlite();
  prepareFile(path);
  // A file with a WAL is checked with a read-only connection first. Closing a read-write connection would checkpoint
  // the WAL, even if the file belongs to another application.
  if (hasWal(path)) openChecked(path, 'mode=ro', busyTimeoutMs).close();
  return openChecked(path, 'mode=rw', busyTimeoutMs, (database, version) => {
    if (version === 0) {
      inTransaction(database, 'IMMEDIATE', () => {
        // Another process that starts at the same time may have created the schema.
        if (readVersion(database, path) === 0) database.exec(schema);
      });
    }
    // The schema is created before the WAL, so that the file header is complete before the WAL contains a commit.
    enterWalMode(database, busyTimeoutMs);
    // On macOS, a sync without F_FULLFSYNC can leave data in the drive's cache (https://sqlite.org/pragma.html).
    database.exec(`
      PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
      PRAGMA journal_size_limit = ${maxKeptWalBytes};
      PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, maxBlockingMs)}`);
    requireTable(database);
    // Checkpoints the WAL of a crashed process. If an fsync failed before the crash, the end of the WAL might be only
    // in memory, and later fsyncs might not write it (https://wiki.postgresql.org/wiki/Fsync_Errors). A power failure
    // would then lose every later commit.
    tryCheckpoint(database);
  });
}

/** Changes neither the file nor its WAL. Throws a {@link NoStoreError} if the file is missing or empty. */
export function openToRead(path: string): DatabaseSync {
  requireSoundSqlite();
  requireUsable(path, 'read');
  if (!hasFile(path)) throw new NoStoreError(`There is no file ${path}.`);
  const open = (parameter: OpenParameter): DatabaseSync =>
    openChecked(path, parameter, defaultBusyTimeoutMs, (database, version) => {
      if (version === 0) throw new NoStoreError(`${path} is empty.`);
      database.exec('PRAGMA query_only = ON');
      requireTable(database);
    });
  // A read-only connection does not change an existing WAL. If there is no WAL, it would leave an empty one behind.
  if (hasWal(path)) return open('mode=ro');
  try {
    return open('mode=rw');
  } catch (error) {
    // In a read-only folder, SQLite cannot create a WAL. A file without a WAL is not in use and can be read as it is.
    const isReadOnly = hasResultCode(error, 'readOnly') || hasResultCode(error, 'cannotOpen');
    if (!isReadOnly || existsSync(walFilesOf(path)[0])) throw error;
    return open('mode=ro&immutable=1');
  }
}

/** See https://www.sqlite.org/uri.html. Without a mode, SQLite would create a missing file. */
type OpenParameter = 'mode=ro' | 'mode=rw' | 'mode=ro&immutable=1';

/** Opens a plant store or a new file, and prepares the connection. After an error, the connection is closed. */
function openChecked(
  path: string,
  parameter: OpenParameter,
  busyTimeoutMs: number,
  prepare?: (database: DatabaseSync, version: number) => void,
): DatabaseSync {
  const url = pathToFileURL(path);
  url.search = parameter;
  const database = new DatabaseSync(url, { timeout: busyTimeoutMs });
  try {
    // One transaction reads one state of the file, even if another process creates the schema at the same time.
    const version = inTransaction(database, 'DEFERRED', () => readVersion(database, path));
    prepare?.(database, version);
    return database;
  } catch (error) {
    database.close();
    if (hasResultCode(error, 'notADatabase')) {
      throw unsupported(path, 'is not an SQLite database: check the path, or restore a backup', error);
    }
    throw hasResultCode(error, 'corrupt') || hasResultCode(error, 'error') ? damaged(path, error) : error;
  }
}

/** Checks that the file is a plant store or is new. Returns the schema version, or 0 if the file is new. */
function readVersion(database: DatabaseSync, path: string): number {
  const version = readPragma(database, 'user_version');
  if (version === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return 0;
  const id = readPragma(database, 'application_id');
  if (id !== applicationId) {
    const found = `its application_id is ${id}, not ${applicationId}`;
    throw unsupported(path, `is an SQLite database of another application (${found}): check the path`);
  }
  if (version === 0) throw unsupported(path, `lacks its schema version: its user_version is 0, not ${schemaVersion}`);
  if (version > schemaVersion) {
    const supported = `this version of plant-store supports version ${schemaVersion}`;
    throw unsupported(path, `has schema version ${version}; ${supported}`);
  }
  const expectedBytes = readPragma(database, 'page_count') * readPragma(database, 'page_size');
  // If there is a WAL, missing pages might be in it.
  if (!hasWal(path) && statSync(path).size < expectedBytes) throw damaged(path, undefined, ': it was truncated');
  return version;
}

/** If several processes enter WAL mode at the same time, SQLite can fail without waiting. */
function enterWalMode(database: DatabaseSync, busyTimeoutMs: number): void {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!hasResultCode(error, 'busy') || performance.now() >= deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** Also opens the WAL and its index. If they do not exist, SQLite creates them. */
function requireTable(database: DatabaseSync): void {
  database.prepare('SELECT EXISTS (SELECT user, id, name, tag FROM plants)').get();
}

/** Copies the commits in the WAL to the database file. Ignores errors: even if the disk is full, the file is usable. */
export function tryCheckpoint(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // The next checkpoint may succeed.
  }
}

/** Checks the whole file with `quick_check`: https://www.sqlite.org/pragma.html#pragma_quick_check */
export function isSound(database: DatabaseSync): boolean {
  return database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] === 'ok';
}

/**
 * A transaction that writes must be `IMMEDIATE`. Otherwise, SQLite would acquire the write lock only at the first
 * write, and could then fail without waiting for the lock.
 */
export function inTransaction<T>(database: DatabaseSync, kind: 'IMMEDIATE' | 'DEFERRED', work: () => T): T {
  database.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function readPragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function requireSoundSqlite(): void {
  const database = new DatabaseSync(':memory:');
  // If SQLite is a shared library, `process.versions.sqlite` can be wrong.
  const version = String(database.prepare('SELECT sqlite_version() AS version').get()?.['version']);
  database.close();
  const needed = describeNeededNode(version);
  if (needed !== undefined) throw new Error(`SqliteStorage needs ${needed}.`);
}

/** Primary SQLite result codes: https://www.sqlite.org/rescode.html */
const resultCode = {
  error: 1,
  busy: 5,
  readOnly: 8,
  corrupt: 11,
  cannotOpen: 14,
  notADatabase: 26,
};

/** The primary result code is the low byte of `errcode`: https://www.sqlite.org/rescode.html#pve */
export function hasResultCode(error: unknown, name: keyof typeof resultCode): boolean {
  // In Jest, errors from Node.js are not instances of `Error`.
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return (Number(errcode) & 0xff) === resultCode[name];
}
