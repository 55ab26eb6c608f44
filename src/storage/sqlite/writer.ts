import { performance } from 'node:perf_hooks';
import type { StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStoreError } from '../../core/model/errors.ts';
import type { Write } from '../../core/storage-adapter.ts';
import { hasResultCode, inTransaction } from './database.ts';
import type { OpenFiles } from './open-files.ts';

const retryAfterMs = 10;

/** The first batch of at least this many writes raises the size of the WAL at which SQLite runs a checkpoint. */
const largeBatch = 16;
/**
 * SQLite's default is 1000 pages of 4 KiB. With large batches, a longer WAL saves copies of pages that change often. With
 * small batches, it would grow for thousands of commits, and an fsync takes longer while the WAL grows.
 */
const checkpointPages = 4000;

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
