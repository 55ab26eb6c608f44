import { stateAfter } from './history.ts';
import type { Operation, State } from './history.ts';

/** The number of states that the search visits before it gives up. */
const defaultMaxStates = 200_000;

/** The result of checking a history. `undecided` means that the search gave up. */
export type Verdict = 'linearizable' | 'not linearizable' | 'undecided';

/**
 * Checks whether a history is linearizable (Herlihy and Wing, 1990). A history is linearizable if its operations can be
 * put into an order that explains every response. In this order, each operation must follow all operations that ended
 * before it began. At the beginning of a history, no plants are stored.
 *
 * The search uses the algorithm of Wing and Gong (1993) with the memoization of Lowe (2017). The search extends a
 * sequence of operations by one operation at a time. It skips a sequence if another order of the same operations has
 * already led to the same state. The run time grows exponentially with the number of concurrent operations, but only
 * linearly with the length of the history.
 */
export function checkLinearizable(operations: readonly Operation[], maxStates: number = defaultMaxStates): Verdict {
  const visited = new Set<string>();

  /**
   * Records a pair of `done` and `state`. Returns `false` if the search must not continue from this pair, because it
   * has already visited the pair or has visited more than `maxStates` pairs.
   */
  function visit(done: bigint, state: State): boolean {
    const plants = Array.from(state, ([id, name]) => `${id} ${name}`).toSorted();
    const key = JSON.stringify([done.toString(36), ...plants]);
    if (visited.has(key)) return false;
    visited.add(key);
    return visited.size <= maxStates;
  }

  /**
   * Returns whether a sequence of operations that leads to `state` can be extended until it includes every operation
   * that has a response. The bit set `done` marks the operations that the sequence already includes.
   */
  function canComplete(done: bigint, state: State): boolean {
    const all = operations.map((operation, index) => ({ operation, bit: 1n << BigInt(index) }));
    const open = all.filter(({ bit }) => (done & bit) === 0n);
    const firstResponseMs = Math.min(...open.map(({ operation }) => operation.respondedMs));
    // Only operations without a response remain. The sequence does not need to contain them, because they may never
    // take effect.
    if (firstResponseMs === Infinity) return true;
    if (!visit(done, state)) return false;
    return open.some(({ operation, bit }) => {
      const next = operation.invokedMs > firstResponseMs ? undefined : stateAfter(state, operation);
      return next !== undefined && canComplete(done | bit, next);
    });
  }

  if (canComplete(0n, new Map())) return 'linearizable';
  return visited.size > maxStates ? 'undecided' : 'not linearizable';
}
