import type { Content, Operation } from './history.ts';

/** The number of states that the search visits before it gives up. */
const defaultMaxStates = 200_000;

/** The contents of all keys at one moment. If a key is missing from the map, no plant is stored for the key. */
type State = ReadonlyMap<number, Content>;

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
  const search = new Search(operations, maxStates);
  if (search.canComplete(0n, new Map())) return 'linearizable';
  return search.hasGivenUp ? 'undecided' : 'not linearizable';
}

class Search {
  readonly #operations: readonly Operation[];
  readonly #maxStates: number;
  readonly #visited = new Set<string>();
  hasGivenUp = false;

  constructor(operations: readonly Operation[], maxStates: number) {
    // A list request without a response is omitted, because it has no effect and no outcome to explain.
    this.#operations = operations.filter(({ kind, outcome }) => kind !== 'list' || outcome !== undefined);
    this.#maxStates = maxStates;
  }

  /**
   * Checks whether a sequence of operations that leads to `state` can be extended to include all operations. The bit
   * set `done` marks the operations that the sequence already contains.
   */
  canComplete(done: bigint, state: State): boolean {
    const open = this.#operations.flatMap((operation, index) =>
      (done & (1n << BigInt(index))) === 0n ? [{ operation, bit: 1n << BigInt(index) }] : [],
    );
    const firstResponseMs = Math.min(...open.map(({ operation }) => operation.respondedMs));
    // Only operations without a response are left. The sequence does not need to contain them, because they may never
    // take effect.
    if (firstResponseMs === Infinity) return true;
    if (!this.#visit(done, state)) return false;
    return open.some(({ operation, bit }) => {
      if (operation.invokedMs > firstResponseMs) return false;
      const next = stateAfter(state, operation);
      return next !== undefined && this.canComplete(done | bit, next);
    });
  }

  /**
   * Records a point that the search has reached. Returns `false` if the search must not continue, because it has
   * already visited this point or has visited too many states.
   */
  #visit(done: bigint, state: State): boolean {
    const key = `${done.toString(36)} ${JSON.stringify([...state].toSorted(([one], [other]) => one - other))}`;
    if (this.#visited.has(key)) return false;
    this.hasGivenUp ||= this.#visited.size >= this.#maxStates;
    if (this.hasGivenUp) return false;
    this.#visited.add(key);
    return true;
  }
}

/** Returns the state after an operation, or `undefined` if the outcome of the operation is impossible in `state`. */
function stateAfter(state: State, operation: Operation): State | undefined {
  switch (operation.kind) {
    case 'create': {
      const isTaken = state.has(operation.key);
      if (operation.outcome !== undefined && isTaken !== (operation.outcome === 'taken')) return undefined;
      return isTaken ? state : new Map([...state, [operation.key, operation.name]]);
    }
    case 'delete': {
      const isPresent = state.has(operation.key);
      if (operation.outcome !== undefined && isPresent !== (operation.outcome === 'deleted')) return undefined;
      return new Map([...state].filter(([key]) => key !== operation.key));
    }
    case 'list': {
      const listed = [...(operation.outcome ?? [])];
      return listed.every(([key, content]) => state.get(key) === content) ? state : undefined;
    }
  }
}
