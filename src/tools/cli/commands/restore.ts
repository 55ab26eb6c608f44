import { closeSync, constants, existsSync, fchownSync, fstatSync, linkSync, lstatSync, openSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { identifyFile, isSameFile, requireFolderOf, syncFolder } from '../../../storage/sqlite/file.ts';
import { hasResultCode } from '../../../storage/sqlite/result-code.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import { setting, settings } from '../environment.ts';
import { interruptible } from '../interruption.ts';
import { describeFailure, parseStorage, requireFile } from '../storage.ts';
import { copyDatabase } from './backup.ts';

export const help = `Usage: plant-store restore BACKUP [--storage sqlite:FILE]

Checks BACKUP, and replaces FILE with a copy of it. Stop all servers first: FILE
must not be in use. The previous FILE is kept as FILE.before-restore.

Options:
  --storage sqlite:FILE   the file to replace (PLANT_STORE_STORAGE, else
                          DATABASE_URL; default sqlite:plants.db)
  -h, --help              show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(args, { storage: settings.storage }, 1);
  const [given] = positionals;
  if (!given) throw new UsageError('restore requires BACKUP, the name of a file.');
  const { file: path } = parseStorage(setting('storage', values.storage), ['sqlite']);
  // SQLite keeps the log next to the file to which symbolic links lead. A link that leads nowhere is an error.
  const file = lstatSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
  const [backup, previous, copy] = [resolve(given), `${file}.before-restore`, `${file}.restoring`];
  requireFile(backup);
  requireFolderOf(file, 'database file');
  if (isSameFile(identifyFile(file), identifyFile(backup))) {
    throw new UsageError('BACKUP must not be the file to replace.');
  }
  if (existsSync(previous)) throw new Error(`${previous} exists, from an earlier restore: move it away.`);
  return interruptible(async (signal) => {
    // A process that was killed might have left a copy.
    rmSync(copy, { force: true });
    await copyDatabase(backup, copy, signal);
    try {
      keepOwner(existsSync(file) ? file : dirname(file), copy);
      replace(file, copy, previous);
    } finally {
      rmSync(copy, { force: true });
    }
    const kept = existsSync(previous) ? ` The previous file is ${previous}.` : '';
    process.stderr.write(`Restored ${file}.${kept}\n`);
    return 0;
  });
}

/**
 * Checkpoints the file's write-ahead log. If the file is damaged, SQLite can remove its log. Throws an error if the file
 * is in use.
 */
function completeFile(file: string): void {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
  } catch (error) {
    if (hasResultCode(error, 'corrupt') || hasResultCode(error, 'notADatabase')) return;
    if (!hasResultCode(error, 'busy')) throw describeFailure(`${file} cannot be replaced`, error);
    throw new Error(`${file} is in use: stop the server before you restore a backup.`, { cause: error });
  } finally {
    database?.close();
  }
}

/** If root restores the backup, gives the copy to the owner of a file or folder. */
function keepOwner(from: string, copy: string): void {
  if (process.getuid?.() !== 0) return;
  // The owner is changed by the descriptor, because another account could replace the path by a link.
  const descriptor = openSync(copy, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { uid, nlink } = fstatSync(descriptor);
    if (uid !== 0 || nlink !== 1) throw new Error(`${copy} was replaced by another process.`);
    const owner = statSync(from);
    fchownSync(descriptor, owner.uid, owner.gid);
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces a file by its copy, and keeps the previous file and its log, if any, under another name. */
function replace(file: string, copy: string, previous: string): void {
  if (existsSync(file)) {
    completeFile(file);
    linkSync(file, previous);
  }
  if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${previous}-wal`);
  rmSync(`${file}-shm`, { force: true });
  renameSync(copy, file);
  syncFolder(dirname(file));
}
