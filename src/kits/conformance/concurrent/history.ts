/**
 * An operation that a client has requested. If the operation took effect, it did so at one moment between `invokedMs`
 * and `respondedMs`. If the outcome is unknown, `respondedMs` is Infinity, because the operation may take effect at any
 * later time.
 */
export interface Operation {
  readonly kind: 'create' | 'delete' | 'list';
  /** The ids of the plants that the operation accesses: one, or several for a list. */
  readonly ids: readonly bigint[];
  /** The name of the plant that a create operation stores. */
  readonly name: string;
  /** What the response reports for each id; `undefined` if the outcome is unknown. */
  readonly outcome: readonly Outcome[] | undefined;
  readonly client: number;
  readonly invokedMs: number;
  readonly respondedMs: number;
}

/** `created`, `taken`, `deleted` or `absent` for a write. For a list operation, a plant's name or {@link noPlant}. */
export type Outcome = string;

/** The outcome of a list operation for an id whose plant is not in the result. */
export const noPlant = 'no plant';

/** The names of the stored plants by id. */
export type State = ReadonlyMap<bigint, string>;

/** Returns the outcome of an operation for one of its ids. */
function outcomeAt(state: State, { kind }: Operation, id: bigint): Outcome {
  if (kind === 'list') return state.get(id) ?? noPlant;
  if (kind === 'create') return state.has(id) ? 'taken' : 'created';
  return state.has(id) ? 'deleted' : 'absent';
}

/** Returns the state after an operation, or `undefined` if the outcome of the operation is impossible in `state`. */
export function stateAfter(state: State, operation: Operation): State | undefined {
  const { kind, ids, name, outcome } = operation;
  const outcomes = ids.map((id) => outcomeAt(state, operation, id));
  if (outcome !== undefined && outcome.join('\n') !== outcomes.join('\n')) return undefined;
  const next = new Map(state);
  for (const [index, id] of ids.entries()) {
    if (outcomes[index] === 'created') next.set(id, name);
    if (kind === 'delete') next.delete(id);
  }
  return next;
}

/**
 * Returns the part of a history that was known at the given time. Operations that began later are omitted. Operations
 * whose responses arrived later have an unknown outcome: they may or may not take effect.
 */
export function historyUntil(operations: readonly Operation[], timeMs: number): Operation[] {
  const begun = operations.filter(({ invokedMs }) => invokedMs <= timeMs);
  return begun.map((operation) =>
    operation.respondedMs <= timeMs ? operation : { ...operation, outcome: undefined, respondedMs: Infinity },
  );
}

/** Returns the history of one id. In a linearizable history, the history of each id is linearizable. */
export function historyOf(operations: readonly Operation[], id: bigint): Operation[] {
  const concerned = operations.filter(({ ids }) => ids.includes(id));
  return concerned.map((operation) => {
    const { ids, outcome } = operation;
    return { ...operation, ids: [id], outcome: outcome?.filter((_, index) => ids[index] === id) };
  });
}

/**
 * Checks whether an operation left all plants unchanged. A linearizable history stays linearizable if such an operation
 * is removed from it.
 */
export function isRead({ kind, outcome }: Operation): boolean {
  return kind === 'list' || outcome?.[0] === 'taken' || outcome?.[0] === 'absent';
}
