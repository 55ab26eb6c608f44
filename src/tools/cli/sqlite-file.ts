import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { unsupported } from '../../storage/sqlite/file.ts';
import { hasResultCode } from '../../storage/sqlite/result-code.ts';
import type { StorageAdapter } from '../../storage/storage-adapter.ts';
import { UsageError } from './command.ts';
import type { Setting } from './command.ts';

/** The file and the parameters in a storage setting of the form `sqlite:FILE` or `sqlite:FILE?PARAMETERS`. */
export interface SqliteLocation {
  /** The absolute path of the file. */
  readonly file: string;
  readonly commitThread: boolean;
}

/**
 * Matches a file and optional parameters. A `?` is part of the file name unless only a word, or a word and `=VALUE`,
 * follows it.
 */
const pattern = /^sqlite:(.*?)(?:\?(\w+(?:=.*)?))?$/s;

/**
 * Parses a storage setting of the form `sqlite:FILE` or `sqlite:FILE?PARAMETERS`. Returns `undefined` for other forms.
 *
 * @throws {UsageError} if FILE begins with `//`, or if a parameter is unknown, repeated or invalid.
 */
export function sqliteLocation({ text, source }: Setting): SqliteLocation | undefined {
  const [, file, query = ''] = pattern.exec(text) ?? [];
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
 * Returns what to write instead of a URL such as `sqlite://FILE`. Some programs read `sqlite:///FILE` as a path in the
 * current folder, and others as an absolute path, so both are returned.
 */
function withoutSlashes(url: string): string {
  const [, slashes = '', rest = ''] = /^sqlite:(\/*)(.*)$/s.exec(url) ?? [];
  if (rest === '') return "sqlite:FILE, such as 'sqlite:plants.db'";
  const [relative, absolute] = [`'sqlite:${rest}'`, `'sqlite:/${rest}'`];
  if (slashes.length === 3) return `${absolute}, or ${relative} for a path in the current folder`;
  return slashes.length === 2 ? relative : absolute;
}

/** Throws an error if a file does not exist. The file is not created, because this would hide a mistyped path. */
export function requireFile(file: string): void {
  if (!existsSync(file)) throw new Error(`There is no file ${file}. Check the path.`);
}

/**
 * Returns an error that names the file and says what to do, because SQLite's messages do neither. Returns an error that
 * is not from SQLite unchanged.
 */
export function withFileName(file: string, action: 'opened' | 'read' | 'written', error: unknown): unknown {
  if (hasResultCode(error, 'cannotOpen')) {
    return new Error(`${file} cannot be opened: it and its folder must be readable and writable.`, { cause: error });
  }
  if (hasResultCode(error, 'ioError') || hasResultCode(error, 'full')) {
    const problem = 'the disk is full or failing. Free space, and try again.';
    return new Error(`${file} cannot be ${action}: ${problem}`, { cause: error });
  }
  const isDamaged = hasResultCode(error, 'corrupt') || hasResultCode(error, 'notADatabase');
  return isDamaged ? unsupported(file, 'is damaged', error) : error;
}

/** Returns a storage adapter that does the same, except that its errors name the file. */
export function namingFile(file: string, storage: StorageAdapter): StorageAdapter {
  const failed = (action: 'read' | 'written') => (error: unknown) => {
    throw withFileName(file, action, error);
  };
  return {
    commit: (writes) => storage.commit(writes).catch(failed('written')),
    list: (user, range) => storage.list(user, range).catch(failed('read')),
    scan: (range) => storage.scan(range).catch(failed('read')),
    close: () => storage.close(),
  };
}
