import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import type { TracingChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers';
import { Arrivals, runInNeutralContext } from './grouping.ts';
import { asStorageError, PlantStoreError } from './model/errors.ts';
import { idOf } from './storage-adapter.ts';
import type { StorageAdapter, Write } from './storage-adapter.ts';

/** The message on the channels of `tracingChannel('plant-store:commit')`, which trace each batch of a PlantStore. */
export interface CommitMessage {
  /** The number of writes in the batch. */
  readonly writes: number;
  /**
   * One function for each write that was requested while the `start` channel had subscribers. It calls `work` in the
   * async context of that request (`AsyncLocalStorage.snapshot()`), so that a subscriber can link the commit to the
   * request.
   */
  readonly contexts: readonly (<Result>(work: () => Result) => Result)[];
  /** The commit's error; `undefined` if the commit succeeded. */
  readonly error?: PlantStoreError;
  /** The duration of the commit in milliseconds, without the wait before it; 0 until the commit has ended. */
  readonly durationMs: number;
}

const commitChannel: TracingChannel<unknown, CommitMessage> = tracingChannel('plant-store:commit');

const maxBatchWrites = 1000;

/** Bounds the time that a synchronous adapter blocks the event loop for a commit. A larger write is its own batch. */
const maxBatchBytes = 1_048_576;

/** A batch waits at most this many event loop iterations for an iteration without new writes. */
const maxWaitIterations = 5;

const maxReturnWaitMs = 10;

interface Entry {
  readonly write: Write;
  readonly resolve: (outcome: boolean) => void;
  readonly reject: (reason: unknown) => void;
  readonly context: CommitMessage['contexts'][number] | undefined;
  /** Measured when several writes are waiting. */
  bytes: number | undefined;
}

/**
 * Implements group commit: writes that arrive during a commit, or in the same event loop iteration, usually share the
 * next batch. One fsync or one round trip covers a whole batch. At most one batch is in flight. A second write to the
 * same plant waits for the next batch. If only one client sends writes, a write does not wait for others.
 */
export class WriteQueue {
  readonly #storage: StorageAdapter;
  readonly #maxPendingWrites: number;
  readonly #onChange: (user: string) => void;
  readonly #arrivals = new Arrivals();
  #waiting: Entry[] = [];
  #pending = 0;
  #running: Promise<void> | undefined;
  #onArrival: (() => void) | undefined;
  #isClosed = false;

  /** Calls `onChange` when a user's plants might have changed. */
  constructor(storage: StorageAdapter, maxPendingWrites: number, onChange: (user: string) => void) {
    this.#storage = storage;
    this.#maxPendingWrites = maxPendingWrites;
    this.#onChange = onChange;
  }

  get length(): number {
    return this.#pending;
  }

  /** Resolves with the write's outcome after the commit. Rejects with `saturated`, `closed` or the commit's error. */
  add(write: Write): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new PlantStoreError('closed');
      if (this.#pending >= this.#maxPendingWrites) throw new PlantStoreError('saturated');
      this.#pending++;
      const context = commitChannel.start.hasSubscribers ? AsyncLocalStorage.snapshot() : undefined;
      this.#waiting.push({ write, resolve, reject, context, bytes: undefined });
      this.#onArrival?.();
      const isAlone = this.#arrivals.add();
      this.#running ??= runInNeutralContext(() => this.#run(isAlone));
    });
  }

  /** Rejects new writes. Resolves when all accepted writes have settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(isAlone: boolean): Promise<void> {
    // A lone client's concurrent calls share a batch, because the batch starts in a microtask.
    await (isAlone ? undefined : this.#waitUntilQuiet());
    for (;;) {
      const batch = this.#takeBatch();
      const left = this.#waiting.length;
      const commitMs = await this.#commit(batch);
      if (this.#waiting.length === 0) break;
      const hasArrivals = this.#waiting.length > left;
      if (hasArrivals) await this.#waitForReturns(batch.length, commitMs);
      await this.#waitUntilQuiet();
    }
    this.#running = undefined;
  }

  /** Waits until no new write arrives in an event loop iteration, or until a batch is full. */
  async #waitUntilQuiet(): Promise<void> {
    for (let iterations = 0; iterations < maxWaitIterations; iterations++) {
      const before = this.#waiting.length;
      await this.#waitForWrites(maxBatchWrites);
      if (this.#waiting.length === before) return;
    }
  }

  /**
   * Removes the writes of the next batch. A write fits if its user's writes in the batch, including this one, are no
   * larger than the free space of the batch. Large writes of one user therefore leave space for those of others.
   */
  #takeBatch(): Entry[] {
    if (this.#waiting.length === 1) return this.#waiting.splice(0);
    const batch: Entry[] = [];
    const byUser = new Map<string, { readonly ids: Set<bigint>; bytes: number }>();
    let freeBytes = maxBatchBytes;
    for (const entry of this.#waiting.splice(0)) {
      const { write } = entry;
      const id = idOf(write);
      const bytes = (entry.bytes ??= sizeOf(write));
      let ofUser = byUser.get(write.user);
      if (ofUser === undefined) byUser.set(write.user, (ofUser = { ids: new Set(), bytes: 0 }));
      const fits = batch.length === 0 || (batch.length < maxBatchWrites && ofUser.bytes + bytes <= freeBytes);
      if (fits && !ofUser.ids.has(id)) {
        ofUser.bytes += bytes;
        freeBytes -= bytes;
        batch.push(entry);
      } else this.#waiting.push(entry);
      // Later writes to the same plant must not overtake this one.
      ofUser.ids.add(id);
    }
    return batch;
  }

  /** Settles all writes of a batch. Returns the duration of the commit in milliseconds. */
  async #commit(batch: readonly Entry[]): Promise<number> {
    // Bun does not implement this property.
    const isTraced = (commitChannel.hasSubscribers as boolean | undefined) !== false;
    const contexts = isTraced ? batch.map(({ context }) => context).filter((context) => context !== undefined) : [];
    const message = { writes: batch.length, contexts, durationMs: 0 };
    const commit = async (): Promise<boolean[]> => {
      const startMs = performance.now();
      try {
        const outcomes: unknown = await this.#storage.commit(batch.map(({ write }) => write));
        const isBoolean = (outcome: unknown): outcome is boolean => typeof outcome === 'boolean';
        if (Array.isArray(outcomes) && outcomes.length === batch.length && outcomes.every(isBoolean)) return outcomes;
        throw new TypeError('commit of the storage adapter must return one boolean for each write');
      } catch (error) {
        throw asStorageError(error);
      } finally {
        message.durationMs = performance.now() - startMs;
        // A failed commit might also have changed the plants, because its outcome is unknown.
        for (const { write } of batch) this.#onChange(write.user);
      }
    };
    try {
      const outcomes = await (isTraced ? commitChannel.tracePromise(commit, message) : commit());
      batch.forEach(({ resolve }, index) => {
        resolve(outcomes[index] === true);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#pending -= batch.length;
    return message.durationMs;
  }

  /**
   * Lets the clients of the last batch send their next writes. Otherwise, the clients would split into two groups whose
   * batches alternate.
   */
  async #waitForReturns(clients: number, commitMs: number): Promise<void> {
    const enough = Math.min(this.#waiting.length + clients, maxBatchWrites);
    const waitMs = Math.min(commitMs / 4, maxReturnWaitMs);
    // The minimum delay of a timer is 1 ms.
    if (waitMs >= 1) await this.#waitForWrites(enough, waitMs);
  }

  /** Waits until `enough` writes are waiting, but at most `maxMs` or, without it, until the next iteration. */
  #waitForWrites(enough: number, maxMs?: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onArrival = () => {
        if (this.#waiting.length >= enough) resolve();
      };
      this.#onArrival();
      if (maxMs === undefined) setImmediate(resolve);
      else setTimeout(resolve, maxMs);
    });
  }
}

/** Returns the size of the name and the tag in UTF-8. */
function sizeOf(write: Write): number {
  if (write.kind === 'delete') return 0;
  const { name, tag = '' } = write.plant;
  return Buffer.byteLength(name) + Buffer.byteLength(tag);
}
