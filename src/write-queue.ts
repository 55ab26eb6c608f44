import { PlantStoreError } from './errors.ts';
import type { Write } from './storage/storage-adapter.ts';

/** The bounds of a {@link WriteQueue}. */
export interface WriteQueueOptions {
  /** How many writes may wait for their commit; one more is refused with `saturated`. */
  readonly maxQueuedWrites: number;
  /** How many writes one commit takes at the most. */
  readonly maxBatchWrites: number;
}

/**
 * For how many turns of the event loop a batch waits for more, while more keep coming: 64 clients
 * then share a sync by 60 instead of 43, which saves a tenth of the CPU a create. A write that is
 * alone waits for none.
 */
const maxWaitTurns = 4;

interface Entry {
  readonly write: Write;
  readonly resolve: (outcome: boolean) => void;
  readonly reject: (reason: unknown) => void;
  /** The next write to the same plant. */
  behind: Entry | undefined;
}

/**
 * Group commit: the writes that arrive while a commit is under way, or in the same turn of the
 * event loop, go to the storage as one batch, so that one fsync or one round trip serves them all.
 *
 * One batch is in flight at a time, and a batch holds at most one write for each (user, id):
 * a second one waits behind the first for the next batch, so that writes to one plant keep the
 * order in which they came. A batch that fails fails exactly the writes it holds.
 */
export class WriteQueue {
  readonly #commit: (writes: Write[]) => Promise<boolean[]>;
  readonly #options: WriteQueueOptions;
  /** The writes for the batches to come, one at most for each plant, in order of arrival. */
  #next: Entry[] = [];
  /** The last waiting write to each plant, by user and id: no key has to be put together for it. */
  readonly #lastByPlant = new Map<string, Map<bigint, Entry>>();
  #waiting = 0;
  #isScheduled = false;
  #isCommitting = false;
  #onDrained: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(commit: (writes: Write[]) => Promise<boolean[]>, options: WriteQueueOptions) {
    this.#commit = commit;
    this.#options = options;
  }

  /**
   * Adds a write; resolves with its outcome once it is committed.
   *
   * @throws {PlantStoreError} `saturated`, `closed`, or what the commit rejected with.
   */
  add(write: Write): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#closing !== undefined) throw new PlantStoreError('closed');
      if (this.#waiting >= this.#options.maxQueuedWrites) throw new PlantStoreError('saturated');
      this.#waiting++;
      this.#enqueue({ write, resolve, reject, behind: undefined });
      this.#schedule();
      // A full batch gains nothing by waiting, and with thousands of clients a turn can take a second.
      if (this.#next.length === this.#options.maxBatchWrites && !this.#isCommitting) void this.#commitBatch();
    });
  }

  /** Takes no more writes; resolves when those already taken are settled. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#onDrained = resolve;
      this.#reportIfDrained();
    });
    return this.#closing;
  }

  #enqueue(entry: Entry): void {
    const { user } = entry.write;
    const id = idOf(entry.write);
    let lastById = this.#lastByPlant.get(user);
    if (lastById === undefined) {
      lastById = new Map();
      this.#lastByPlant.set(user, lastById);
    }
    const last = lastById.get(id);
    lastById.set(id, entry);
    if (last === undefined) this.#next.push(entry);
    else last.behind = entry;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isCommitting) return;
    this.#isScheduled = true;
    this.#commitWhenQuiet(maxWaitTurns);
  }

  /** Commits when a turn brought no more writes, or after a number of turns. */
  #commitWhenQuiet(turns: number): void {
    const before = this.#waiting;
    setImmediate(() => {
      if (turns > 0 && this.#waiting > before) {
        this.#commitWhenQuiet(turns - 1);
        return;
      }
      this.#isScheduled = false;
      if (!this.#isCommitting && this.#next.length > 0) void this.#commitBatch();
    });
  }

  async #commitBatch(): Promise<void> {
    this.#isCommitting = true;
    const batch = this.#takeBatch();
    try {
      const outcomes = await this.#commit(batch.map(({ write }) => write));
      for (const [index, entry] of batch.entries()) entry.resolve(outcomes[index] === true);
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
    this.#waiting -= batch.length;
    this.#isCommitting = false;
    if (this.#next.length > 0) this.#schedule();
    else this.#reportIfDrained();
  }

  #takeBatch(): Entry[] {
    const batch = this.#next.slice(0, this.#options.maxBatchWrites);
    this.#next = this.#next.slice(batch.length);
    for (const { write, behind } of batch) {
      if (behind === undefined) this.#forget(write);
      else this.#next.push(behind);
    }
    return batch;
  }

  #forget(write: Write): void {
    const lastById = this.#lastByPlant.get(write.user);
    lastById?.delete(idOf(write));
    if (lastById?.size === 0) this.#lastByPlant.delete(write.user);
  }

  #reportIfDrained(): void {
    if (this.#waiting === 0) this.#onDrained?.();
  }
}

function idOf(write: Write): bigint {
  return write.kind === 'create' ? write.plant.id : write.id;
}
