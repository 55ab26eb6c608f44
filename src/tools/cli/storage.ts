import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { MemoryStorage } from '../../storage/memory/memory-storage.ts';
import { openToRead } from '../../storage/sqlite/database.ts';
import { damaged, identifyFile } from '../../storage/sqlite/file.ts';
import { hasResultCode } from '../../storage/sqlite/result-code.ts';
import { SqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import type { StorageAdapter } from '../../core/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';
import { openPostgres } from './postgres.ts';
import type { OpenOptions } from './postgres.ts';
import { suggestion } from './suggestion.ts';

/**
 * Parses a storage setting of the form `sqlite:FILE` or `sqlite:FILE?PARAMETERS`. A `?` is part of the file name unless
 * the text after it is a word or has the form `WORD=VALUE`. Returns the absolute path of the file, or `undefined` if
 * the setting has another form.
 *
 * @throws {UsageError} if FILE begins with `//`, or if a parameter is unknown, repeated or invalid.
 */
export function sqliteLocation({ text, source }: Setting): { file: string; commitThread: boolean } | undefined {
  const [, file, query = ''] = /^sqlite:(.*?)(?:\?(\w+(?:=.*)?))?$/s.exec(text) ?? [];
  if (file === undefined || file === '' || file === ':memory:') return undefined;
  if (file.startsWith('//')) {
    throw new UsageError(`${source} must not have '//' after 'sqlite:'. Use ${withoutSlashes(text)}.`);
  }
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (name === 'commitThread') continue;
    throw new UsageError(`${source} has the parameter '${name}'. The only parameter of sqlite:FILE is commitThread.`);
  }
  const [commitThread = 'false', ...others] = parameters.getAll('commitThread');
  if (others.length > 0) throw new UsageError(`commitThread must not be given twice in ${source}.`);
  if (commitThread !== 'true' && commitThread !== 'false') {
    throw new UsageError(`commitThread in ${source} must be true or false, not '${commitThread}'.`);
  }
  return { file: resolve(file), commitThread: commitThread === 'true' };
}

/**
 * Returns a text that suggests valid settings instead of a URL such as `sqlite://FILE`. Some programs interpret
 * `sqlite:///FILE` as a path in the current folder, and others as an absolute path, so the text contains both settings.
 */
function withoutSlashes(url: string): string {
  const [, slashes = '', rest = ''] = /^sqlite:(\/*)(.*)$/s.exec(url) ?? [];
  if (rest === '') return "sqlite:FILE, such as 'sqlite:plants.db'";
  const [relative, absolute] = [`'sqlite:${rest}'`, `'sqlite:/${rest}'`];
  if (slashes.length === 3) return `${absolute}, or ${relative} for a path in the current folder`;
  return slashes.length === 2 ? relative : absolute;
}

/**
 * Opens the storage that a setting names: `memory`, `sqlite:FILE` or `postgres://…`.
 *
 * @throws {UsageError} if the setting has none of these forms or contains an invalid parameter.
 */
export async function openStorage(
  setting: Setting,
  options: OpenOptions = { createIfMissing: true },
): Promise<StorageAdapter> {
  const { text, source } = setting;
  if (text === 'memory') return new MemoryStorage();
  if (/^postgres(?:ql)?:\/\//.test(text)) return openPostgres(setting, options);
  const location = sqliteLocation(setting);
  if (location === undefined) {
    const message = `${source} must be 'memory', 'sqlite:FILE' or 'postgres://…', not '${withoutSecrets(text)}'.`;
    throw new UsageError(`${message} ${suggestedStorage(text)}`.trimEnd());
  }
  const { file, commitThread } = location;
  try {
    if (!options.createIfMissing) {
      requireFile(file);
      openToRead(file, 5000).close();
    }
    return new SqliteStorage(file, { commitThread });
  } catch (error) {
    throw withFileName(file, 'opened', error);
  }
}

/**
 * Opens a persistent storage, passes it to `work`, and closes it when the promise that `work` returns has settled. If
 * `createIfMissing` is true, creates the file or the table if it does not exist.
 *
 * @throws {UsageError} if the setting does not name a persistent storage.
 * @throws {Error} if the file or the table does not exist and is not created.
 */
export async function withStorage<T>(
  setting: Setting,
  createIfMissing: boolean,
  work: (storage: StorageAdapter) => Promise<T>,
): Promise<T> {
  if (setting.text === 'memory') {
    throw new UsageError(
      `${setting.source} must not be 'memory', which is empty before the command and gone after it. Name a file or a database.`,
    );
  }
  // Streamed data becomes garbage immediately, so a larger young generation of the V8 heap has no benefit. If V8
  // enlarged the young generation, the command would take 10% more time and use 50 MiB more memory.
  setFlagsFromString('--semi-space-growth-factor=1');
  const file = sqliteLocation(setting)?.file;
  const opened = await openStorage(setting, { createIfMissing });
  const storage = file === undefined ? opened : namingFile(file, opened);
  try {
    // Opening a connection pool does not check the table. This read checks the table before anything else is opened or
    // created.
    await storage.list('', { after: undefined, limit: 1 });
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/**
 * Returns a phrase that completes the sentence "Plants are stored …". The phrase never contains a password. Call this
 * function before the storage is opened; otherwise, the phrase cannot say that the file is new.
 */
export function storagePlace(setting: Setting): string {
  if (setting.text === 'memory') return 'in memory, until the server stops';
  const file = sqliteLocation(setting)?.file;
  if (file === undefined) return `in the PostgreSQL database of ${setting.source}`;
  return existsSync(file) ? `in ${file}` : `in the new file ${file}`;
}

/** Checks whether two settings name the same storage. Different links to one file count as the same storage. */
export function isSameStorage(a: Setting, b: Setting): boolean {
  const [one, other] = [a, b].map((setting) => {
    const file = sqliteLocation(setting)?.file;
    const found = file === undefined ? undefined : identifyFile(file);
    return found === undefined ? (file ?? setting.text) : `${found.dev}:${found.ino}`;
  });
  return one === other;
}

/** Throws an error if a file does not exist. The file is not created, because this would hide a mistyped path. */
export function requireFile(file: string): void {
  if (!existsSync(file)) throw new Error(`There is no file ${file}. Check the path.`);
}

/** Returns an error that names the file and says what to do, or the same error if it is not from SQLite. */
export function withFileName(file: string, action: 'opened' | 'read' | 'written', error: unknown): unknown {
  if (hasResultCode(error, 'cannotOpen')) {
    return new Error(`${file} cannot be opened: it and its folder must be readable and writable.`, { cause: error });
  }
  if (hasResultCode(error, 'ioError') || hasResultCode(error, 'full')) {
    const problem = 'the disk is full or failing. Free space, and try again.';
    return new Error(`${file} cannot be ${action}: ${problem}`, { cause: error });
  }
  const isDamaged = hasResultCode(error, 'corrupt') || hasResultCode(error, 'notADatabase');
  return isDamaged ? damaged(file, error) : error;
}

/** Wraps a storage adapter so that its errors name the file. */
function namingFile(file: string, storage: StorageAdapter): StorageAdapter {
  const failed = (action: 'read' | 'written') => (error: unknown) => {
    throw withFileName(file, action, error);
  };
  return {
    commit: (writes) => storage.commit(writes).catch(failed('written')),
    list: (user, range) => storage.list(user, range).catch(failed('read')),
    async *scan() {
      try {
        yield* storage.scan();
      } catch (error) {
        throw withFileName(file, 'read', error);
      }
    },
    close: () => storage.close(),
  };
}

/** Returns a sentence that suggests a similar setting, or an empty string if the text is not similar to a setting. */
function suggestedStorage(text: string): string {
  const [scheme] = /^[^/]*:\/\//.exec(text) ?? [];
  if (scheme !== undefined) return suggestion(`${scheme}…`, ['postgres://…', 'postgresql://…']);
  // Text with other characters might be part of a connection string that contains a password, so it is not repeated.
  const isFileName = /^[\w./\\~ -]+$/.test(text) && text !== 'sqlite' && text !== 'postgres';
  return suggestion(text, ['memory'], isFileName ? `Did you mean 'sqlite:${text}'?` : '');
}

/** Removes possible passwords from an invalid connection string, both before the host and in the query. */
function withoutSecrets(text: string): string {
  return text.replace(/(:\/*)[^/].*@/s, '$1…@').replace(/\?.*/s, '?…');
}
