import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findExposure } from '../files/file.ts';
import { databaseFiles } from '../storage/sqlite/file.ts';
import { UsageError } from './errors.ts';
import { shellQuoted } from './process.ts';

/**
 * Returns the absolute path of a file. Root may not use a file if another account can change it, or a file that SQLite
 * or a token command creates beside it. That account could make root change any file, with links or SQLite journals.
 *
 * @throws {UsageError} with the command line to run instead
 */
export function requireSafePath(file: string): string {
  const path = resolve(file);
  if (process.geteuid?.() !== 0) return path;
  const realPath = existsSync(path) ? realpathSync(path) : path;
  const names = [path, ...databaseFiles(realPath), `${realPath}.new`];
  const exposed = names.map((name) => findExposure(name)).find((found) => found !== undefined);
  if (exposed === undefined) return path;
  const folderOwner = statSync(dirname(path), { throwIfNoEntry: false })?.uid ?? 0;
  throw new UsageError(describe(exposed, folderOwner === 0 ? lstatSync(exposed).uid : folderOwner));
}

function describe(path: string, uid: number): string {
  const problem = `Another account can change ${path}, so root must not use it`;
  const name = uid === 0 ? 'NAME' : nameOf(uid);
  if (name === '') {
    return `${problem}. Run the command as the account ${uid}, for example in a container with --user ${uid}.`;
  }
  const remedy =
    uid === 0 ? 'Use files and folders that only root can write, or run the command as another account' : 'Run';
  // The arguments can contain a password or a token.
  const words = process.argv.slice(2).map((word) => (/postgres(?:ql)?:|^pst_/.test(word) ? '…' : shellQuoted(word)));
  return `${problem}. ${remedy}:\nrunuser -u ${name} -- plant-store ${words.join(' ')}`;
}

/** Returns '' if the account has no name, as is often the case for the owner of a folder mounted into a container. */
function nameOf(uid: number): string {
  const { status, stdout } = spawnSync('id', ['-nu', String(uid)], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}
