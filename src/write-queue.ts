import { PlantStoreError } from './errors.ts';
import type { Write } from './storage/storage-adapter.ts';

/** The bounds of a {@link WriteQueue}. */
export interface WriteQueueOptions {
  /** How many writes may wait for their commit; one more is refused with `saturated`. */
  readonly maxQueuedWrites: number;
  /** How many writes one commit takes at the most. */
  readonly maxBatchWrites: number;
}

interface Entry {
  readonly write: Write;
  readonly resolve: (outcome: boolean) => void;
  readonly reject: (reason: unknown) => void;
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
  /** The batch to come, by plant, in order of arrival. */
  readonly #next = new Map<string, Entry>();
  /** Writes to a plant that is already in the batch to come. */
  readonly #behind = new Map<string, Entry[]>();
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
  async add(write: Write): Promise<boolean> {
    if (this.#closing !== undefined) throw new PlantStoreError('closed');
    if (this.#waiting >= this.#options.maxQueuedWrites) throw new PlantStoreError('saturated');
    return new Promise((resolve, reject) => {
      this.#waiting++;
      this.#enqueue({ write, resolve, reject });
      this.#schedule();
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
    const key = keyOf(entry.write);
    if (!this.#next.has(key)) {
      this.#next.set(key, entry);
      return;
    }
    const behind = this.#behind.get(key);
    if (behind === undefined) this.#behind.set(key, [entry]);
    else behind.push(entry);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isCommitting) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#commitBatch();
    });
  }

  async #commitBatch(): Promise<void> {
    this.#isCommitting = true;
    const batch = this.#takeBatch();
    try {
      const outcomes = await this.#commit(batch.map(({ write }) => write));
      batch.forEach((entry, index) => {
        entry.resolve(outcomes[index] === true);
      });
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    }
    this.#waiting -= batch.length;
    this.#isCommitting = false;
    if (this.#next.size > 0) this.#schedule();
    else this.#reportIfDrained();
  }

  #takeBatch(): Entry[] {
    const batch: Entry[] = [];
    for (const [key, entry] of this.#next) {
      if (batch.length === this.#options.maxBatchWrites) break;
      this.#next.delete(key);
      batch.push(entry);
    }
    // Not before the batch is complete: it must not meet the same plant twice.
    for (const { write } of batch) this.#promote(keyOf(write));
    return batch;
  }

  /** Moves the first write behind a plant's key into the batch to come. */
  #promote(key: string): void {
    const behind = this.#behind.get(key);
    const entry = behind?.shift();
    if (entry !== undefined) this.#next.set(key, entry);
    if (behind?.length === 0) this.#behind.delete(key);
  }

  #reportIfDrained(): void {
    if (this.#waiting === 0) this.#onDrained?.();
  }
}

/** A decimal id holds no space, so no two (user, id) give the same text. */
function keyOf(write: Write): string {
  return `${write.kind === 'create' ? write.plant.id : write.id} ${write.user}`;
}
