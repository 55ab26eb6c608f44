import { WriteQueue } from '../../src/core/write-queue.ts';
import type { WriteQueueOptions } from '../../src/core/write-queue.ts';
import type { Write } from '../../src/adapter.ts';

/** A `commit` function whose batches settle when the test calls `succeed` or `fail`. */
export class Commits {
  readonly batches: Write[][] = [];
  readonly #pending: { resolve: (outcomes: boolean[]) => void; reject: (error: Error) => void }[] = [];

  readonly commit = (writes: Write[]): Promise<boolean[]> => {
    this.batches.push(writes);
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
  };

  get sizes(): number[] {
    return this.batches.map(({ length }) => length);
  }

  get underWay(): number {
    return this.#pending.length;
  }

  succeed(outcome = true): void {
    this.#pending.shift()?.resolve(this.batches.at(-1)?.map(() => outcome) ?? []);
  }

  fail(error: Error): void {
    this.#pending.shift()?.reject(error);
  }
}

/** Creates a queue that commits to {@link Commits}. */
export function makeQueue(options: WriteQueueOptions): { commits: Commits; queue: WriteQueue } {
  const commits = new Commits();
  return { commits, queue: new WriteQueue(commits.commit, options) };
}

/** Resolves after two iterations of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
