import { resolve } from 'node:path';
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
  // Other programs read sqlite://FILE or sqlite:///FILE as a path in the current folder, or as an absolute path.
  const [slashes = ''] = /^\/*/.exec(file) ?? [];
  if (slashes.length > 1) {
    const relative = file.slice(slashes.length);
    throw new UsageError(
      `${source} must not have '//' after 'sqlite:'. Use sqlite:FILE, such as 'sqlite:${relative}'.`,
    );
  }
  let commitThread: string | undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== 'commitThread') {
      throw new UsageError(`${source} has the parameter '${name}'. The only parameter of sqlite:FILE is commitThread.`);
    }
    if (commitThread !== undefined) throw new UsageError(`${name} must not be given twice in ${source}.`);
    if (value !== 'true' && value !== 'false') {
      throw new UsageError(`${name} in ${source} must be true or false, not '${value}'.`);
    }
    commitThread = value;
  }
  return { file: resolve(file), commitThread: commitThread === 'true' };
}
