import { existsSync, statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { countPlants } from '../storage/sqlite/count.ts';
import { identifyFile } from '../storage/sqlite/file.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openStorage } from './open-storage.ts';
import { sqliteLocation } from './sqlite-location.ts';

/**
 * The maximum size of a file whose plants are counted for the progress bar, in bytes. Counting the plants in a larger
 * file would take too long.
 */
const maxCountedBytes = 4 * 2 ** 30;

/**
 * Opens a storage adapter for reading plants, passes it to `work`, and closes it when the promise that `work` returns
 * has settled. Does not create a missing file.
 *
 * @throws {UsageError} if the setting does not name persistent storage.
 */
export function withSource<T>(source: Setting, work: (storage: StorageAdapter) => Promise<T>): Promise<T> {
  const file = sqliteLocation(source)?.file;
  if (file !== undefined) requireFile(file);
  return withTarget(source, work);
}

/**
 * Opens a storage adapter for writing plants, passes it to `work`, and closes it when the promise that `work` returns
 * has settled.
 *
 * @throws {UsageError} if the setting does not name persistent storage.
 */
export async function withTarget<T>(target: Setting, work: (storage: StorageAdapter) => Promise<T>): Promise<T> {
  if (target.text === 'memory') {
    throw new UsageError(
      `${target.source} must not be 'memory', which is empty before the command and gone after it. Name a file or a database.`,
    );
  }
  // Streamed data becomes garbage immediately, so a larger young generation of the V8 heap has no benefit. If V8
  // enlarged it, the command would take 10 % more time and 50 MiB more memory.
  setFlagsFromString('--semi-space-growth-factor=1');
  const storage = await openStorage(target);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** Throws an error if a file does not exist. The file is not created, because this would hide a mistyped path. */
export function requireFile(file: string): void {
  if (!existsSync(file)) throw new Error(`There is no file ${file}. Check the path.`);
}

/** Checks whether two settings name the same storage. Different links to one file count as the same storage. */
export function isSameStorage(a: Setting, b: Setting): boolean {
  const [one, other] = [identity(a), identity(b)];
  return one === other;
}

function identity(storage: Setting): string {
  const file = sqliteLocation(storage)?.file;
  if (file === undefined) return storage.text;
  return existsSync(file) ? identifyFile(file) : file;
}

/**
 * Returns the number of stored plants for the progress bar. Returns `undefined` if standard error is not a terminal, if
 * the storage is not a file, or if counting would take too long.
 */
export function countToShow(storage: Setting): number | undefined {
  const file = sqliteLocation(storage)?.file;
  if (!process.stderr.isTTY || file === undefined || statSync(file).size > maxCountedBytes) return undefined;
  return countPlants(file);
}
