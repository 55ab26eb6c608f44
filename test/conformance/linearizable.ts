import { isDeepStrictEqual } from 'node:util';
import type { Write } from '../../src/index.ts';
import { ReferenceStore } from '../../src/testing/plants.ts';

/** An operation of a user. If it took effect, it did so between `invokedMs` and `respondedMs`. */
export interface Operation {
  /** What the client requested: a write, or the list of all plants. */
  readonly request: Write | 'list';
  /**
   * What the response reports: whether the write changed the store, or the listed names. If it is `undefined`, the
   * outcome is unknown, and `respondedMs` is Infinity, because the operation may take effect at any later time.
   */
  readonly outcome: boolean | readonly string[] | undefined;
  readonly invokedMs: number;
  readonly respondedMs: number;
}

/** The result of checking a history. `undecided` means that the search gave up. */
export type Verdict = 'linearizable' | 'not linearizable' | 'undecided';

/** The search gives up after this many states. */
const maxStates = 200_000;

/** The user of all operations. */
export const user = 'ada';

/** Performs an operation. Returns whether its outcome is possible. */
function perform(store: ReferenceStore, { request, outcome }: Operation): boolean {
  const possible = request === 'list' ? store.list(user).map(({ name }) => name) : store.apply(request);
  return outcome === undefined || isDeepStrictEqual(outcome, possible);
}

/**
 * Checks whether a history of one user is linearizable (Herlihy and Wing, 1990). A history is linearizable if its
 * operations can be put into an order that explains every response. In this order, each operation must follow all
 * operations that ended before it began. At the beginning of a history, no plants are stored.
 *
 * The search uses the algorithm of Wing and Gong (1993) with the memoization of Lowe (2017). The search extends a
 * sequence of operations by one operation at a time. It skips a sequence if another order of the same operations has
 * already led to the same plants. The run time grows exponentially with the number of concurrent operations, but only
 * linearly with the length of the history.
 */
export function checkLinearizable(operations: readonly Operation[]): Verdict {
  // A list without a response has no effect, and each one would double the number of states.
  const relevant = operations.filter(({ request, outcome }) => request !== 'list' || outcome !== undefined);
  const all = relevant.map((operation, index) => ({ operation, bit: 1n << BigInt(index) }));
  const visited = new Set<string>();

  /** Returns whether the operations that are not in the bit set `done` can follow those that led to `store`. */
  function canComplete(done: bigint, store: ReferenceStore): boolean {
    const open = all.filter(({ bit }) => (done & bit) === 0n);
    const firstResponseMs = Math.min(...open.map(({ operation }) => operation.respondedMs));
    // Only operations without a response remain, which may never take effect.
    if (firstResponseMs === Infinity) return true;
    const plants = store.scan();
    const state = [done, ...plants.map(({ plant }) => `${plant.id} ${plant.name}`)].join();
    if (visited.has(state) || visited.size >= maxStates) return false;
    visited.add(state);
    return open.some(({ operation, bit }) => {
      const next = new ReferenceStore(plants);
      return operation.invokedMs <= firstResponseMs && perform(next, operation) && canComplete(done | bit, next);
    });
  }

  if (canComplete(0n, new ReferenceStore())) return 'linearizable';
  return visited.size >= maxStates ? 'undecided' : 'not linearizable';
}
