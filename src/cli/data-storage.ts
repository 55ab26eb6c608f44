import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { countPlants } from '../storage/sqlite/count.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openStorage } from './open-storage.ts';

/** In a larger file it takes too long to count the plants just to show how many are left. */
const maxCountedBytes = 4 * 2 ** 30;

/** The file that a setting of the form `sqlite:FILE` names; `undefined` for other forms. */
export function sqliteFile({ text }: Setting): string | undefined {
  const file = /^sqlite:(.+)$/s.exec(text)?.[1];
  return file === undefined || file === ':memory:' ? undefined : resolve(file);
}

/**
 * Opens a storage that plants are taken from, and closes it after the work. A file is not made.
 *
 * @throws {UsageError} where the setting names no storage that lasts.
 */
export function withSource<T>(source: Setting, work: (storage: StorageAdapter) => Promise<T>): Promise<T> {
  const file = sqliteFile(source);
  if (file !== undefined) requireFile(file);
  return withTarget(source, work);
}

/**
 * Opens a storage that plants are brought to, and closes it after the work.
 *
 * @throws {UsageError} where the setting names no storage that lasts.
 */
export async function withTarget<T>(target: Setting, work: (storage: StorageAdapter) => Promise<T>): Promise<T> {
  if (target.text === 'memory') {
    throw new UsageError(`${target.source} must not be 'memory', which is empty before the command and gone after it.`);
  }
  // What streams through is garbage at once: a young generation that grows takes 50 MiB more, and a tenth more time.
  setFlagsFromString('--semi-space-growth-factor=1');
  const storage = await openStorage(target);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** Throws where there is no such file: to make one would hide a slip of the pen. */
export function requireFile(file: string): void {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) throw new Error(`There is no file ${file}.`);
}

/** Whether two settings name the same storage, by whatever links. */
export function isSameStorage(a: Setting, b: Setting): boolean {
  const [one, other] = [identity(a), identity(b)];
  return one === other;
}

function identity(storage: Setting): string {
  const file = sqliteFile(storage);
  if (file === undefined) return storage.text;
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? file : `${found.dev}:${found.ino}`;
}

/** How many plants a storage has, where somebody watches and it is quickly known. */
export function countToShow(storage: Setting): number | undefined {
  const file = sqliteFile(storage);
  if (!process.stderr.isTTY || file === undefined || statSync(file).size > maxCountedBytes) return undefined;
  return countPlants(file);
}
