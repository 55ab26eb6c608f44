import type { BigIntStats } from 'node:fs';
import { closeSync, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PlantStoreError } from '../../core/model/errors.ts';
import { identifyFile, isSameFile, walOf } from './file.ts';
import type { FileIdentity } from './file.ts';

export interface FileIdentities {
  readonly database: FileIdentity;
  readonly wal: FileIdentity;
}

/** https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const headerBytes = 32;
/** A WAL begins with this number or the next one. */
const walMagic = 0x377f0682;
const frameHeaderBytes = 24;
/** The maximum number of new frames that are followed with reads. For more frames, one stat is faster. */
const maxFollowedFrames = 8;

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
 *
 * SQLite itself changes the WAL in three ways: a commit appends frames, a commit after a checkpoint restarts the WAL
 * with a new header, and some checkpoints truncate it to zero bytes. Every other change is a loss.
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
  /** Closing this descriptor releases no lock, because SQLite does not lock the WAL. */
  readonly #wal: number;
  /** The size of the WAL at the latest check. While the header stays the same, the WAL only grows. */
  #size = 0;
  readonly #header: Buffer = Buffer.alloc(headerBytes);
  readonly #newHeader: Buffer = Buffer.alloc(headerBytes);

  /** Create this object immediately after the connection has opened the files. */
  constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.database = database;
    this.#walPath = walOf(path);
    this.#folderPath = lstatSync(path).isSymbolicLink() ? undefined : dirname(path);
    this.#shmPath = this.#walPath.replace(/-wal$/, '-shm');
    this.#shm = identifyFile(this.#shmPath);
    this.#wal = openSync(this.#walPath, 'r');
    const found = identifyFile(path);
    if (found === undefined) throw new Error(`${path} ${losses.database}.`);
    const wal = fstatSync(this.#wal, { bigint: true });
    this.identities = { database: { dev: found.dev, ino: found.ino }, wal: { dev: wal.dev, ino: wal.ino } };
  }

  /** Throws an error if the WAL has been truncated: a commit and a checkpoint would fill the gap with zeros. */
  checkBeforeCommit(): void {
    const isShorter = this.#size > 0 && readSync(this.#wal, this.#newHeader, 0, 1, this.#size - 1) === 0;
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
    closeSync(this.#wal);
    this.database.close();
    reader?.close();
  }

  #findLoss(): Loss | undefined {
    const folder = this.#folderPath === undefined ? undefined : identifyFile(this.#folderPath);
    const isUnchanged = isSameFile(folder, this.#folder) && folder?.ctimeNs === this.#folder?.ctimeNs;
    if (this.#folder !== undefined && isUnchanged && this.#followGrowth()) return undefined;
    const loss = this.#compareFiles();
    const isSettled = folder !== undefined && Date.now() - Number(folder.ctimeMs) > timestampResolutionMs;
    this.#folder = loss === undefined && isSettled ? folder : undefined;
    return loss;
  }

  /**
   * Adds the frames that were appended to `#size`. Returns `false` if the header has changed, or if there are too many
   * new frames. Uses reads, because on Linux 6.13 and later, the stat of a file makes the next write to it slower: a
   * commit of one plant would use 30% more CPU time.
   */
  #followGrowth(): boolean {
    this.#readHeader(this.#newHeader);
    if (this.#size === 0 || !this.#newHeader.equals(this.#header)) return false;
    const frameBytes = frameHeaderBytes + this.#header.readUInt32BE(8);
    for (let frames = 0; frames < maxFollowedFrames; frames++) {
      if (readSync(this.#wal, this.#newHeader, 0, 1, this.#size + frameBytes - 1) === 0) return true;
      this.#size += frameBytes;
    }
    return false;
  }

  #compareFiles(): Loss | undefined {
    if (!isSameFile(identifyFile(this.#path), this.identities.database)) return 'database';
    const wal = identifyFile(this.#walPath);
    if (wal === undefined) return 'walRemoved';
    if (!isSameFile(identifyFile(this.#shmPath), this.#shm)) return 'walChanged';
    return isSameFile(wal, this.identities.wal) && this.#acceptSize(Number(wal.size)) ? undefined : 'walChanged';
  }

  #acceptSize(size: number): boolean {
    this.#readHeader(this.#newHeader);
    if (this.#size === 0 || size < this.#size || !this.#newHeader.equals(this.#header)) return this.#acceptRestart();
    this.#size = size;
    return true;
  }

  #acceptRestart(): boolean {
    const header = Buffer.alloc(headerBytes);
    let size: number;
    do {
      this.#readHeader(header);
      size = fstatSync(this.#wal).size;
      this.#readHeader(this.#newHeader);
    } while (!this.#newHeader.equals(header));

    if (size === 0) {
      // If SQLite counts pages in a WAL that is still empty, another program has truncated it. If the WAL is no longer
      // empty, another process has committed in the meantime.
      if (this.#size > 0 && this.#checkpoint() && fstatSync(this.#wal).size === 0) return false;
    } else {
      const hasMagic = header.readUInt32BE() >>> 1 === walMagic >>> 1;
      if (!hasMagic || (size < this.#size && header.equals(this.#header))) return false;
    }
    this.#size = size;
    header.copy(this.#header);
    return true;
  }

  #readHeader(header: Buffer): void {
    if (readSync(this.#wal, header, 0, headerBytes, 0) < headerBytes) header.fill(0);
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
