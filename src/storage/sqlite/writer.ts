import { existsSync, lstatSync, statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStoreError } from '../../core/model/errors.ts';
import type { Write } from '../../core/storage-adapter.ts';
import { hasResultCode, inTransaction, openDatabase, tryCheckpoint } from './database.ts';
import { identify, walFilesOf } from './file.ts';

const retryAfterMs = 10;

/** The first batch of at least this many writes raises the size of the WAL at which SQLite runs a checkpoint. */
const largeBatch = 16;
/**
 * SQLite's default is 1000 pages of 4 KiB. With large batches, a longer WAL causes fewer checkpoints, so pages that
 * change often are copied less. With small batches, the WAL would grow for thousands of commits, and an fsync takes
 * longer while the WAL grows.
 */
const checkpointPages = 4000;

/** A database file, and the identities of the files that are open. */
export interface FileSet {
  readonly path: string;
  readonly database: string;
  readonly wal: string;
  /** The index of the WAL. If it is removed, the next process creates another one and overwrites commits. */
  readonly index: string;
}

type Loss = 'database' | 'walRemoved' | 'walReplaced';

/** Two changes to a folder within this time can have the same timestamp. */
const timestampResolutionMs = 2000;

export class Writer {
  readonly #files: OpenFiles;
  readonly #busyTimeoutMs: number;
  readonly #insert: StatementSync;
  readonly #delete: StatementSync;
  #hasLargeBatches = false;
  #isClosed = false;

  constructor(files: OpenFiles, busyTimeoutMs: number) {
    this.#files = files;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#insert = files.database.prepare(
      'INSERT INTO plants (user, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    );
    this.#delete = files.database.prepare('DELETE FROM plants WHERE user = ? AND id = ?');
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    const deadline = performance.now() + this.#busyTimeoutMs;
    for (;;) {
      if (this.#isClosed) throw new PlantStoreError('closed');
      try {
        return this.#commitNow(writes);
      } catch (error) {
        if (!hasResultCode(error, 'busy') || performance.now() >= deadline) throw error;
      }
      await sleep(retryAfterMs);
    }
  }

  /** Rejects a commit that is waiting for a lock. The caller closes the connection. */
  close(): void {
    this.#isClosed = true;
  }

  #commitNow(writes: readonly Write[]): boolean[] {
    if (!this.#hasLargeBatches && writes.length >= largeBatch) {
      this.#files.database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
      this.#hasLargeBatches = true;
    }
    const applyAll = (): boolean[] => writes.map((write) => this.#apply(write));
    this.#files.refuseAfterLoss();
    // A single write needs no explicit transaction.
    const outcomes = writes.length === 1 ? applyAll() : inTransaction(this.#files.database, 'IMMEDIATE', applyAll);
    this.#files.checkAfterCommit();
    return outcomes;
  }

  #apply(write: Write): boolean {
    if (write.kind === 'delete') return Number(this.#delete.run(write.user, write.id).changes) === 1;
    const { id, name, tag } = write.plant;
    return Number(this.#insert.run(write.user, id, name, tag ?? null).changes) === 1;
  }
}

/**
 * A database connection and its files. If another program removes or replaces one of the files, SQLite continues to
 * commit, and the commits are lost when the process ends.
 */
export class OpenFiles {
  readonly database: DatabaseSync;
  readonly files: FileSet;
  /** The folder of the files, or `undefined` if the path is a symbolic link. */
  readonly #folderPath: string | undefined;
  /** The folder when the files were last compared; `undefined` if they must be compared after the next commit. */
  #folder: BigIntStats | undefined;
  #loss: Loss | undefined;

  constructor(path: string, busyTimeoutMs: number) {
    this.database = openDatabase(path, busyTimeoutMs);
    const [wal, index] = walFilesOf(path);
    this.files = { path, database: identify(path) ?? '', wal: identify(wal) ?? '', index: identify(index) ?? '' };
    this.#folderPath = lstatSync(path).isSymbolicLink() ? undefined : dirname(path);
  }

  /** Throws an error if an earlier commit was written to a file that was removed or replaced. */
  refuseAfterLoss(): void {
    if (this.#loss === undefined) return;
    const cause = new Error(describeLoss(this.#loss, this.files));
    throw new PlantStoreError('storage_unavailable', undefined, { cause });
  }

  /** Throws an error if the commit was written to a file that was removed or replaced. */
  checkAfterCommit(): void {
    const folder = this.#readFolder();
    const last = this.#folder;
    if (last && folder?.ino === last.ino && folder.dev === last.dev && folder.ctimeNs === last.ctimeNs) return;
    this.#loss = findLoss(this.files);
    this.#folder = folder;
    // Saves the plants that only the removed WAL contains.
    if (this.#loss === 'walRemoved') tryCheckpoint(this.database);
    this.refuseAfterLoss();
  }

  /** Returns `undefined` if the folder might change without another timestamp. */
  #readFolder(): BigIntStats | undefined {
    if (this.#folderPath === undefined) return undefined;
    const folder = statSync(this.#folderPath, { bigint: true, throwIfNoEntry: false });
    return folder && Date.now() - Number(folder.ctimeMs) > timestampResolutionMs ? folder : undefined;
  }

  /**
   * Closes the connection. When the last connection is closed, SQLite copies its WAL to the database file and removes
   * the file `-wal`. This would damage the database if `-wal` belongs to another process.
   */
  close(): void {
    let reader: DatabaseSync | undefined;
    try {
      if (findLoss(this.files) === 'walReplaced') {
        // While a read-only connection is open, the other connection is not the last one.
        reader = new DatabaseSync(this.files.path, { readOnly: true });
        reader.prepare('SELECT 1 FROM plants').get();
      }
    } catch {
      // A path that cannot be read must not prevent the close.
    }
    this.database.close();
    reader?.close();
  }
}

/** Throws an error if one of the files was removed or replaced. */
export function requireInPlace(files: FileSet): void {
  const loss = findLoss(files);
  if (loss !== undefined) throw new Error(describeLoss(loss, files));
}

function findLoss({ path, database, wal, index }: FileSet): Loss | undefined {
  if (database !== identify(path)) return 'database';
  // If the path has become a symbolic link, the next process uses a WAL beside the file that the link points to.
  const [walPath, indexPath] = walFilesOf(path);
  if (wal === identify(walPath) && index === identify(indexPath)) return undefined;
  return existsSync(walPath) ? 'walReplaced' : 'walRemoved';
}

function describeLoss(loss: Loss, { path }: FileSet): string {
  return loss === 'database'
    ? `${path} was removed or replaced while it was open. Save its plants, which can be read until this process ` +
        'stops, then restore the file from a backup and restart.'
    : `${path} lost its -wal or -shm file, which was removed or replaced while it was open. Restart. The latest ` +
        'plants can be missing.';
}
