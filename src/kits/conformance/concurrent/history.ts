/**
 * The state of one key: the name of the stored plant, or `undefined` if no plant is stored. A key is a small number
 * that stands for an id.
 */
export type Content = string | undefined;

/** A request and the outcome that its response reports. The outcome is `undefined` if it is unknown. */
export type Action =
  | {
      readonly kind: 'create';
      readonly key: number;
      readonly name: string;
      readonly outcome: 'created' | 'taken' | undefined;
    }
  | { readonly kind: 'delete'; readonly key: number; readonly outcome: 'deleted' | 'absent' | undefined }
  | { readonly kind: 'list'; readonly outcome: ReadonlyMap<number, Content> | undefined };

/**
 * An operation that a client has requested. If the operation took effect, it did so at one moment between `invokedMs`
 * and `respondedMs`. If the outcome is unknown, `respondedMs` is Infinity, because the operation may take effect at any
 * later time.
 */
export type Operation = Action & {
  readonly client: number;
  readonly invokedMs: number;
  readonly respondedMs: number;
};

/**
 * Returns the operation as it was before its response arrived: the outcome is unknown, and the operation may or may not
 * take effect.
 */
function pending(operation: Operation): Operation {
  return { ...operation, outcome: undefined, respondedMs: Infinity };
}

/**
 * Returns what was known of a history at the given time. Operations that began later are omitted. Operations whose
 * responses arrived later have an unknown outcome.
 */
export function historyUntil(operations: readonly Operation[], timeMs: number): Operation[] {
  const begun = operations.filter(({ invokedMs }) => invokedMs <= timeMs);
  return begun.map((operation) => (operation.respondedMs <= timeMs ? operation : pending(operation)));
}

/**
 * Returns the history of one key. A history is linearizable only if the history of each of its keys is linearizable.
 */
export function historyOf(operations: readonly Operation[], key: number): Operation[] {
  return operations.flatMap((operation): Operation[] => {
    if (operation.kind !== 'list') return operation.key === key ? [operation] : [];
    if (operation.outcome === undefined) return [];
    return [{ ...operation, outcome: new Map([[key, operation.outcome.get(key)]]) }];
  });
}

/**
 * Checks whether an operation left all plants unchanged. A linearizable history stays linearizable if such an operation
 * is removed from it.
 */
export function isRead({ kind, outcome }: Operation): boolean {
  return kind === 'list' || outcome === 'taken' || outcome === 'absent';
}
