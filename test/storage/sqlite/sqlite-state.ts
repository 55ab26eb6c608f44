import { readdirSync, readlinkSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts';
import type { SqliteStorageOptions } from '../../../src/storage/sqlite/sqlite-storage.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';
import { everything } from '../../support/writes.ts';

/** A failed commit that may be tried again. */
export const unavailable = { name: 'PlantStoreError', code: 'storage_unavailable' };

/** Opens a storage. It is closed after the test. */
export function openSqlite(t: HasAfter, path: string, options: SqliteStorageOptions = {}): SqliteStorage {
  const storage = new SqliteStorage(path, options);
  t.after(() => storage.close());
  return storage;
}

/** Returns the ids of ada's plants. */
export async function ids(storage: SqliteStorage): Promise<number[]> {
  return (await storage.list('ada', everything)).plants.map(({ id }) => Number(id));
}

/** Returns the size of a file in bytes. */
export async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size;
}

/** Returns the paths of the open files of this process by their descriptors. The path of a removed file ends with `(deleted)`. */
export function openFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const descriptor of readdirSync('/proc/self/fd')) {
    try {
      files.set(descriptor, readlinkSync(`/proc/self/fd/${descriptor}`));
    } catch {
      // This is the descriptor with which the folder was read.
    }
  }
  return files;
}
