import type { Content, Operation } from './history.ts';

/** How many states of the search are visited before it gives up. */
const defaultMaxStates = 200_000;

/** The contents of all keys at one moment. A missing key has no plant. */
type State = ReadonlyMap<number, Content>;

/** What a check of a history has found. `undecided` means that the search has reached its limit. */
export type Verdict = 'linearizable' | 'not linearizable' | 'undecided';

/**
 * Checks whether a history is linearizable (Herlihy and Wing, 1990): whether there is an order of the operations that
 * explains every response, in which no operation comes before one that had ended when it began. At first there are no
 * plants.
 *
 * The search is that of Wing and Gong (1993) with the memory of Lowe (2017): it extends an order by one operation at a
 * time, and leaves out a set of operations that has led to the same state before. Its effort grows exponentially with
 * the number of concurrent operations, but only linearly with the length of the history.
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
    // A list without a response has neither an effect nor an outcome to explain.
    this.#operations = operations.filter(({ kind, outcome }) => kind !== 'list' || outcome !== undefined);
    this.#maxStates = maxStates;
  }

  /** Checks whether an order of the operations in the bit set `done`, which ends in `state`, can be completed. */
  canComplete(done: bigint, state: State): boolean {
    const open = this.#operations.flatMap((operation, index) =>
      (done & (1n << BigInt(index))) === 0n ? [{ operation, bit: 1n << BigInt(index) }] : [],
    );
    const firstResponseMs = Math.min(...open.map(({ operation }) => operation.respondedMs));
    // Only operations without a response are left, which may never take effect.
    if (firstResponseMs === Infinity) return true;
    if (!this.#visit(done, state)) return false;
    return open.some(({ operation, bit }) => {
      if (operation.invokedMs > firstResponseMs) return false;
      const next = stateAfter(state, operation);
      return next !== undefined && this.canComplete(done | bit, next);
    });
  }

  /** Returns whether the search should continue from here: for the first time, and within its limit. */
  #visit(done: bigint, state: State): boolean {
    const key = `${done.toString(36)} ${JSON.stringify([...state].toSorted(([one], [other]) => one - other))}`;
    if (this.#visited.has(key)) return false;
    this.hasGivenUp ||= this.#visited.size >= this.#maxStates;
    if (this.hasGivenUp) return false;
    this.#visited.add(key);
    return true;
  }
}

/** Returns the state after an operation, or `undefined` if its outcome is impossible in this state. */
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
