import type { BigIntStats } from 'node:fs';
import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PlantStoreError } from '../../core/model/errors.ts';
import { identifyFile, isSameFile, walOf } from './file.ts';
import type { FileIdentity } from './file.ts';

export interface FileIdentities {
  readonly database: FileIdentity;
  readonly wal: FileIdentity;
}

/** Two changes to a folder within this time can have the same timestamp. */
const timestampResolutionMs = 2000;

const losses = {
  database:
    'was removed or replaced while it was open. Its plants can be read until this process stops: save them, then ' +
    'restore the file from a backup and restart',
  walRemoved: 'lost its write-ahead log (-wal), which was removed while it was open. Restart',
  walReplaced:
    'lost its write-ahead log: the file -wal was replaced while it was open, or the file -shm was removed. The latest ' +
    'plants can be missing. Restart',
};
type Loss = keyof typeof losses;

/**
 * A database connection, its database file and its write-ahead log (WAL). If another program removes or replaces one of
 * these files, SQLite continues to commit, and the commits are lost when the process ends.
 */
export class OpenFiles {
  readonly database: DatabaseSync;
  readonly identities: FileIdentities;
  readonly #path: string;
  /** The index of the WAL. If it is removed, the next process creates another one, and overwrites commits. */
  readonly #shm: FileIdentity | undefined;
  /** The folder of both files, or `undefined` if the path is a symbolic link. */
  readonly #folderPath: string | undefined;
  /** The folder when the files were last compared, if its timestamp shows every later removal or replacement. */
  #folder: BigIntStats | undefined;
  #loss: Loss | undefined;

  /** Create this object immediately after the connection has opened the files. */
  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.database = database;
    this.#folderPath = lstatSync(path).isSymbolicLink() ? undefined : dirname(path);
    this.#shm = identifyFile(shmOf(walOf(path)));
    const [found, wal] = [identifyFile(path), identifyFile(walOf(path))];
    if (found === undefined || wal === undefined) throw new Error(`${path} ${losses.database}.`);
    this.identities = { database: { dev: found.dev, ino: found.ino }, wal: { dev: wal.dev, ino: wal.ino } };
  }

  /** Throws an error if an earlier commit was not in the files at the path. */
  checkBeforeCommit(): void {
    if (this.#loss === undefined) return;
    const cause = new Error(`${this.#path} ${losses[this.#loss]}.`);
    throw new PlantStoreError('storage_unavailable', undefined, { cause });
  }

  /** Throws an error if the commit is not in the files at the path. */
  checkAfterCommit(): void {
    this.#loss = this.#findLoss();
    // Saves the plants that only the removed WAL contains.
    if (this.#loss === 'walRemoved') this.#checkpoint();
    this.checkBeforeCommit();
  }

  /**
   * Closes the connection. When the last connection is closed, SQLite copies its WAL to the database file and removes
   * the file `-wal`. This would damage the database if `-wal` belongs to another process.
   */
  close(): void {
    let reader: DatabaseSync | undefined;
    try {
      if (this.#compareFiles() === 'walReplaced') {
        // While a read-only connection is open, the other connection is not the last one.
        reader = new DatabaseSync(this.#path, { readOnly: true });
        reader.prepare('SELECT 1 FROM plants').get();
      }
    } catch {
      // The files must be closed even if nothing at the path can be read.
    }
    this.database.close();
    reader?.close();
  }

  #findLoss(): Loss | undefined {
    const folder = this.#folderPath === undefined ? undefined : identifyFile(this.#folderPath);
    const isUnchanged = isSameFile(folder, this.#folder) && folder?.ctimeNs === this.#folder?.ctimeNs;
    if (this.#folder !== undefined && isUnchanged) return undefined;
    const loss = this.#compareFiles();
    const isSettled = folder !== undefined && Date.now() - Number(folder.ctimeMs) > timestampResolutionMs;
    this.#folder = loss === undefined && isSettled ? folder : undefined;
    return loss;
  }

  #compareFiles(): Loss | undefined {
    if (!isSameFile(identifyFile(this.#path), this.identities.database)) return 'database';
    // If the path has become a symbolic link, the next process uses a WAL beside the file that the link leads to.
    const walPath = walOf(this.#path);
    const wal = identifyFile(walPath);
    if (wal === undefined) return 'walRemoved';
    const isSame = isSameFile(wal, this.identities.wal) && isSameFile(identifyFile(shmOf(walPath)), this.#shm);
    return isSame ? undefined : 'walReplaced';
  }

  #checkpoint(): void {
    try {
      this.database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The commit fails in any case.
    }
  }
}

function shmOf(walPath: string): string {
  return walPath.replace(/-wal$/, '-shm');
}
