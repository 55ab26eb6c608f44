import { PlantStoreError } from '../model/errors.ts';
import type { Write } from '../storage/storage-adapter.ts';

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
 * order in which they came. A batch that fails fails exactly the writes it holds; if it fails with
 * `invalid_plant`, exactly those of its writes that the storage cannot hold.
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
    await this.#settle(this.#takeBatch());
    this.#isCommitting = false;
    if (this.#next.length > 0) this.#schedule();
    else this.#reportIfDrained();
  }

  /**
   * Commits a batch and settles its writes. A batch that holds a plant which the storage cannot hold
   * is committed again in halves, so that one write never fails its neighbours: n such plants among
   * m writes take about 2n · log2(m) more commits.
   */
  async #settle(batch: readonly Entry[]): Promise<void> {
    try {
      const outcomes = await this.#commit(batch.map(({ write }) => write));
      for (const [index, entry] of batch.entries()) entry.resolve(outcomes[index] === true);
    } catch (error) {
      if (isUnstorable(error) && batch.length > 1) {
        const middle = batch.length >> 1;
        await this.#settle(batch.slice(0, middle));
        await this.#settle(batch.slice(middle));
        return;
      }
      const reason = isUnstorable(error) ? unstorable(error) : error;
      for (const entry of batch) entry.reject(reason);
    }
    this.#waiting -= batch.length;
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

/** Whether a commit was rejected because the storage cannot hold one of its plants: nothing was written then. */
function isUnstorable(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'invalid_plant';
}

function unstorable(cause: unknown): PlantStoreError {
  return new PlantStoreError('invalid_plant', 'The storage cannot hold this plant.', { cause });
}
