import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PlantStoreError } from '../../../src/index.ts';
import type { Write } from '../../../src/index.ts';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import type { SqliteStorageOptions } from '../../../src/storage/sqlite/sqlite-storage.ts';
import { firstPage } from '../../../src/testing/plants.ts';
import { checkIntegrity } from '../../support/sqlite-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

export const unavailable = { name: 'PlantStoreError', code: 'storage_unavailable' };

/** Validates the error of a commit whose file was removed or replaced. */
export function isLoss(error: unknown): true {
  assert.ok(error instanceof PlantStoreError && error.code === 'storage_unavailable', String(error));
  assert.match(String(error.cause), /removed or replaced/);
  return true;
}

/** Returns the path of a file that does not exist, in a new folder. */
export async function newPath(t: HasAfter): Promise<string> {
  return join(await temporaryFolder(t), 'plants.db');
}

/** Opens a storage that is closed after the test. */
export function openSqlite(t: HasAfter, path: string, options: SqliteStorageOptions = {}): SqliteStorage {
  const storage = new SqliteStorage(path, options);
  t.after(() => storage.close());
  return storage;
}

/** Creates a file and its WAL as a crash leaves them, with the writes only in the WAL. Returns the path of the file. */
export async function makeCrashed(t: HasAfter, writes: readonly Write[]): Promise<string> {
  const [from, path] = [await newPath(t), await newPath(t)];
  const storage = new SqliteStorage(from);
  await storage.commit(writes);
  for (const ending of ['', '-wal']) await copyFile(from + ending, path + ending);
  await storage.close();
  return path;
}

/** Runs `work` while this process cannot write to a file beyond `maxBytes`, as on a full disk. */
export async function whileStuck<T>(work: () => Promise<T>, maxBytes = 4096): Promise<T> {
  // Larger writes fail with EFBIG, because Node.js ignores SIGXFSZ. The hard limit, after the colon, does not change.
  const limit = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', `${process.pid}`, `--fsize=${bytes}:`]);
  limit(maxBytes);
  try {
    return await work();
  } finally {
    limit('unlimited');
  }
}

/** Returns the ids of ada's plants. */
export async function ids(storage: SqliteStorage): Promise<number[]> {
  return (await storage.list('ada', firstPage)).plants.map(({ id }) => Number(id));
}

/** Returns the ids that a server would find if the process that has the file open crashed now. */
export async function idsAfterCrash(t: HasAfter, path: string): Promise<number[]> {
  const copy = await newPath(t);
  // The WAL is copied first, because a new commit thread can checkpoint the WAL meanwhile.
  for (const ending of ['-wal', '']) await copyFile(path + ending, copy + ending).catch(() => undefined);
  const found = await ids(openSqlite(t, copy));
  assert.equal(checkIntegrity(copy), 'ok');
  return found;
}
