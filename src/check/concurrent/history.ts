/** The state of one key: the name of the plant, or `undefined` if there is none. A key is the number of an id. */
export type Content = string | undefined;

/** What a request was meant to do, and what the response says. An unknown outcome is `undefined`. */
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
 * A request of one client. It took effect, if at all, at one moment between `invokedMs` and `respondedMs`. If the
 * outcome is unknown, `respondedMs` is Infinity, because the request may take effect at any later time.
 */
export type Operation = Action & {
  readonly client: number;
  readonly invokedMs: number;
  readonly respondedMs: number;
};

/** Returns an operation whose response has not arrived, so that it may or may not take effect. */
function pending(operation: Operation): Operation {
  return { ...operation, outcome: undefined, respondedMs: Infinity };
}

/** Returns the operations as they were known at a moment: later ones are missing, and unfinished ones are pending. */
export function historyUntil(operations: readonly Operation[], timeMs: number): Operation[] {
  const begun = operations.filter(({ invokedMs }) => invokedMs <= timeMs);
  return begun.map((operation) => (operation.respondedMs <= timeMs ? operation : pending(operation)));
}

/** Returns the history of one key. A history is linearizable only if the history of each of its keys is. */
export function historyOf(operations: readonly Operation[], key: number): Operation[] {
  return operations.flatMap((operation): Operation[] => {
    if (operation.kind !== 'list') return operation.key === key ? [operation] : [];
    if (operation.outcome === undefined) return [];
    return [{ ...operation, outcome: new Map([[key, operation.outcome.get(key)]]) }];
  });
}

/** Checks whether an operation changes nothing. Such an operation can be removed from a history without harm. */
export function isRead({ kind, outcome }: Operation): boolean {
  return kind === 'list' || outcome === 'taken' || outcome === 'absent';
}
