import type { Write } from '../../src/index.ts';

export const create = (id: number, user = 'ada'): Write => ({
  kind: 'create',
  user,
  plant: { id: BigInt(id), name: '' },
});
export const remove = (id: number, user = 'ada'): Write => ({ kind: 'delete', user, id: BigInt(id) });

/** A commit that settles when the test says so. */
export class Commits {
  readonly batches: Write[][] = [];
  readonly #pending: { resolve: (outcomes: boolean[]) => void; reject: (error: Error) => void }[] = [];

  readonly commit = (writes: Write[]): Promise<boolean[]> => {
    this.batches.push(writes);
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
  };

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

/** Resolves when the event loop has gone round. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** The outcome of a write to a set of stored plants. */
export function apply(there: Set<string>, isCreate: boolean, id: string): boolean {
  if (!isCreate) return there.delete(id);
  const isNew = !there.has(id);
  there.add(id);
  return isNew;
}

export function idOf(write: Write): bigint {
  return write.kind === 'create' ? write.plant.id : write.id;
}
