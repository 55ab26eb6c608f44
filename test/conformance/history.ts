/**
 * An operation that a client has requested. If it took effect, it did so between `invokedMs` and `respondedMs`. If the
 * outcome is unknown, `respondedMs` is Infinity, because the operation may take effect at any later time.
 */
export interface Operation {
  readonly kind: 'create' | 'delete' | 'list';
  /** The ids of the plants that the operation accesses: one, or several for a list. */
  readonly ids: readonly bigint[];
  readonly name: string;
  /** What the response reports for each id; `undefined` if the outcome is unknown. */
  readonly outcome: readonly Outcome[] | undefined;
  readonly invokedMs: number;
  readonly respondedMs: number;
}

/** `created`, `taken`, `deleted` or `absent` for a write. For a list operation, a plant's name or {@link noPlant}. */
export type Outcome = string;

/** The outcome of a list operation for an id whose plant is not in the result. */
export const noPlant = 'no plant';

export type State = ReadonlyMap<bigint, string>;

/** Returns the state after an operation, or `undefined` if the outcome of the operation is impossible in `state`. */
export function stateAfter(state: State, { kind, ids, name, outcome }: Operation): State | undefined {
  const next = new Map(state);
  for (const [index, id] of ids.entries()) {
    const stored = state.get(id);
    const [ifAbsent, ifStored] = {
      create: ['created', 'taken'],
      delete: ['absent', 'deleted'],
      list: [noPlant, stored],
    }[kind];
    if (outcome !== undefined && outcome[index] !== (stored === undefined ? ifAbsent : ifStored)) return undefined;
    if (kind === 'create' && stored === undefined) next.set(id, name);
    if (kind === 'delete') next.delete(id);
  }
  return next;
}

export function describeHistory(operations: readonly Operation[]): string {
  const startMs = Math.min(...operations.map(({ invokedMs }) => invokedMs));
  const time = (ms: number): string => (ms === Infinity ? '?' : (ms - startMs).toFixed(2));
  const lines = operations
    .toSorted((one, other) => one.invokedMs - other.invokedMs)
    .map((operation) => {
      const { kind, ids, name, outcome = ['unknown'], invokedMs, respondedMs } = operation;
      const request = `${kind} ${ids.join(', ')}${kind === 'create' ? ` ${name}` : ''}`;
      return `  ${time(invokedMs)} to ${time(respondedMs)} ms: ${request}: ${outcome.join(', ')}`;
    });
  return lines.join('\n');
}
