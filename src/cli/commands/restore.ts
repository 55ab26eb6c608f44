import { closeSync, constants, existsSync, fchownSync, fstatSync, linkSync, lstatSync, openSync } from 'node:fs';
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { requireFolderOf, syncFolder } from '../../files/folder.ts';
import { identifyFile, isSameFile, restoringCopyOf } from '../../storage/sqlite/file.ts';
import { hasResultCode } from '../../storage/sqlite/result-code.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import { setting, settings } from '../environment.ts';
import { interruptible } from '../interruption.ts';
import { describeFailure, parseStorage, requireFile } from '../storage.ts';
import { copyDatabase } from './backup.ts';

export const help = `Usage: plant-store restore BACKUP [--storage sqlite:FILE]

Checks BACKUP, and replaces FILE with a copy of it. Stop all servers first: FILE
must not be in use. The previous FILE is kept as FILE.before-restore, and its
write-ahead log as FILE.before-restore-wal.

Options:
  --storage sqlite:FILE   the file to replace (PLANT_STORE_STORAGE, else
                          DATABASE_URL; default sqlite:plants.db)
  -h, --help              show this help
`;

/** The WAL, and the rollback journal of a transaction that was interrupted before the file had a WAL. */
const journalEndings = ['-wal', '-journal'];

export async function run(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(args, { storage: settings.storage }, 1);
  const [given] = positionals;
  if (!given) throw new UsageError('restore requires BACKUP, the name of a file.');
  const { file: path } = parseStorage(setting('storage', values.storage), ['sqlite']);
  // SQLite keeps the WAL next to the file to which symbolic links lead. A link that leads nowhere is an error.
  const file = lstatSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
  const [backup, previous, copy] = [resolve(given), `${file}.before-restore`, restoringCopyOf(file)];
  requireFile(backup);
  requireFolderOf(file, 'database file');
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${file} is not a file.`);
  if (isSameFile(identifyFile(file), identifyFile(backup))) {
    throw new UsageError('BACKUP must not be the file to replace.');
  }
  if (isSameFile(identifyFile(copy), identifyFile(backup))) {
    throw new UsageError(`BACKUP must not be ${copy}, which restore overwrites: rename the backup first.`);
  }
  const kept = ['', ...journalEndings].map((ending) => previous + ending);
  const journals = journalEndings.map((ending) => copy + ending);
  const existing = [...kept, ...journals].find((name) => existsSync(name));
  if (existing !== undefined) throw new Error(`${existing} exists: move it away, and restore the backup again.`);
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
    const names = kept.filter((name) => existsSync(name)).join(' and ');
    process.stderr.write(`Restored ${file}.${names === '' ? '' : ` The previous data is in ${names}.`}\n`);
    return 0;
  });
}

/**
 * Throws an error if a file is in use. Opens the file through a new hard link, because SQLite would remove the WAL of a
 * damaged file. For the link, SQLite looks for a WAL with the name of the link, and so leaves the file's WAL alone.
 */
function requireUnused(file: string, link: string): void {
  let database: DatabaseSync | undefined;
  try {
    // Because there is a WAL, SQLite locks the file before it reads the header, which may be damaged. It ignores the
    // content of the WAL, which is invalid.
    writeFileSync(`${link}-wal`, ' ', { flag: 'wx' });
    database = new DatabaseSync(link, { timeout: 0 });
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    if (hasResultCode(error, 'corrupt') || hasResultCode(error, 'notADatabase')) return;
    rmSync(link);
    if (!hasResultCode(error, 'busy')) throw describeFailure(`${file} cannot be replaced`, error);
    throw new Error(`${file} is in use: stop the server before you restore a backup.`, { cause: error });
  } finally {
    database?.close();
    rmSync(`${link}-wal`, { force: true });
  }
}

/** If root restores the backup, gives the copy the owner and group of `from`. */
function keepOwner(from: string, copy: string): void {
  if (process.getuid?.() !== 0) return;
  // The owner is changed through the descriptor, because another account could replace the path with a link.
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

/** Replaces a file with a copy of the backup. Keeps the previous file, its WAL and its journal under other names. */
function replace(file: string, copy: string, previous: string): void {
  if (existsSync(file)) {
    linkSync(file, previous);
    requireUnused(file, previous);
  }
  const journals = journalEndings.filter((ending) => existsSync(file + ending));
  // If restore is killed before it has renamed the WAL, no server must open the previous file without the WAL. While
  // the file is missing, SqliteStorage does not create an empty one next to a WAL or to the copy.
  if (journals.length > 0) rmSync(file, { force: true });
  for (const ending of journals) renameSync(file + ending, previous + ending);
  rmSync(`${file}-shm`, { force: true });
  renameSync(copy, file);
  syncFolder(dirname(file));
}
