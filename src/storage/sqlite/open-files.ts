import type { BigIntStats } from 'node:fs';
import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PlantStoreError } from '../../core/model/errors.ts';
import { identifyFile, isSameFile, walOf } from './file.ts';
import type { FileIdentity } from './file.ts';
import { WalFile } from './wal-file.ts';

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
  walChanged:
    'lost its write-ahead log: the file -wal was replaced or truncated while it was open, or the file -shm was ' +
    'removed. The latest plants can be missing. Restart',
};
type Loss = keyof typeof losses;

/**
 * A database connection, its database file and its write-ahead log (WAL). If another program removes or replaces one of
 * these files, or truncates the WAL, SQLite continues to commit, and the commits are lost when the process ends.
 */
export class OpenFiles {
  readonly database: DatabaseSync;
  readonly identities: FileIdentities;
  readonly #path: string;
  readonly #walPath: string;
  readonly #shmPath: string;
  /** The index of the WAL. If it is removed, the next process creates another one, and overwrites commits. */
  readonly #shm: FileIdentity | undefined;
  /** The folder of both files, or `undefined` if the path is a symbolic link. */
  readonly #folderPath: string | undefined;
  /** The folder when the files were last compared, if its timestamp shows every later removal or replacement. */
  #folder: BigIntStats | undefined;
  #loss: Loss | undefined;
  readonly #wal: WalFile;

  /** Create this object immediately after the connection has opened the files. */
  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.database = database;
    this.#walPath = walOf(path);
    this.#folderPath = lstatSync(path).isSymbolicLink() ? undefined : dirname(path);
    this.#shmPath = this.#walPath.replace(/-wal$/, '-shm');
    this.#shm = identifyFile(this.#shmPath);
    const found = identifyFile(path);
    if (found === undefined) throw new Error(`${path} ${losses.database}.`);
    this.#wal = new WalFile(this.#walPath, () => this.#checkpoint());
    this.identities = { database: { dev: found.dev, ino: found.ino }, wal: this.#wal.identity };
  }

  /** Throws an error if the WAL has been truncated: a commit and a checkpoint would fill the gap with zeros. */
  checkBeforeCommit(): void {
    const isShorter = this.#wal.isShorter();
    if (isShorter) this.#folder = undefined;
    if (isShorter || this.#loss !== undefined) this.checkAfterCommit();
  }

  /** Throws an error if the commit is not in the files at the path. */
  checkAfterCommit(): void {
    if (this.#loss === undefined) {
      this.#loss = this.#findLoss();
      // Saves the plants that only the removed WAL contains.
      if (this.#loss === 'walRemoved') this.#checkpoint();
    }
    if (this.#loss === undefined) return;
    const cause = new Error(`${this.#path} ${losses[this.#loss]}.`);
    throw new PlantStoreError('storage_unavailable', undefined, { cause });
  }

  /**
   * Closes the connection. When the last connection is closed, SQLite copies its WAL to the database file and removes
   * the file `-wal`. This would damage the database if `-wal` belongs to another process or has a gap.
   */
  close(): void {
    this.#folder = undefined;
    let reader: DatabaseSync | undefined;
    try {
      if (this.#findLoss() === 'walChanged') {
        // While a read-only connection is open, the other connection is not the last one.
        reader = new DatabaseSync(this.#path, { readOnly: true });
        reader.prepare('SELECT 1 FROM plants').get();
      }
    } catch {
      // The files must be closed even if nothing at the path can be read.
    }
    this.#wal.close();
    this.database.close();
    reader?.close();
  }

  #findLoss(): Loss | undefined {
    const folder = this.#folderPath === undefined ? undefined : identifyFile(this.#folderPath);
    const isUnchanged = isSameFile(folder, this.#folder) && folder?.ctimeNs === this.#folder?.ctimeNs;
    if (this.#folder !== undefined && isUnchanged && this.#wal.followGrowth()) return undefined;
    const loss = this.#compareFiles();
    const isSettled = folder !== undefined && Date.now() - Number(folder.ctimeMs) > timestampResolutionMs;
    this.#folder = loss === undefined && isSettled ? folder : undefined;
    return loss;
  }

  #compareFiles(): Loss | undefined {
    if (!isSameFile(identifyFile(this.#path), this.identities.database)) return 'database';
    const wal = identifyFile(this.#walPath);
    if (wal === undefined) return 'walRemoved';
    if (!isSameFile(identifyFile(this.#shmPath), this.#shm)) return 'walChanged';
    return isSameFile(wal, this.identities.wal) && this.#wal.acceptSize(Number(wal.size)) ? undefined : 'walChanged';
  }

  /** Checkpoints the WAL as far as possible. Returns whether it contains pages according to SQLite. */
  #checkpoint(): boolean {
    try {
      return Number(this.database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.['log']) > 0;
    } catch {
      return true;
    }
  }
}
