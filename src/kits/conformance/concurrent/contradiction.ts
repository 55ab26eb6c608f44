import { historyOf, historyUntil, isRead } from './history.ts';
import type { Content, Operation } from './history.ts';
import { checkLinearizable } from './linearizable.ts';

/** A short history that is not linearizable, taken from a longer one. */
export interface Contradiction {
  /** The operations, in the order in which they began. */
  readonly operations: readonly Operation[];
  /** The operation whose response no order of the operations can explain. */
  readonly culprit: Operation;
  /** The outcomes that would have been possible instead; empty if the operation lists several ids. */
  readonly possible: readonly string[];
}

/**
 * Shortens a history that is not linearizable. Omits everything after the first response that cannot be explained. If
 * the history of one key is not linearizable by itself, omits the other keys. Finally, omits reads that the
 * contradiction does not depend on.
 */
export function findContradiction(operations: readonly Operation[]): Contradiction {
  const culprit = firstUnexplained(operations);
  let history = historyUntil(operations, culprit.respondedMs);
  const keys = new Set(operations.flatMap((operation) => (operation.kind === 'list' ? [] : [operation.key])));
  const projected = [...keys].map((key) => historyOf(history, key)).find(isContradictory);
  history = projected ?? history;
  for (const operation of history) {
    if (!isRead(operation) || operation.invokedMs === culprit.invokedMs) continue;
    const shorter = history.filter((other) => other !== operation);
    if (isContradictory(shorter)) history = shorter;
  }
  const reduced = history.find(({ invokedMs, client }) => invokedMs === culprit.invokedMs && client === culprit.client);
  const last = reduced ?? culprit;
  return {
    operations: history.toSorted((one, other) => one.invokedMs - other.invokedMs),
    culprit: last,
    possible: possibleOutcomes(history, last),
  };
}

function isContradictory(history: readonly Operation[]): boolean {
  return checkLinearizable(history) === 'not linearizable';
}

/**
 * Returns the operation with the first response that cannot be explained. Without this response and all later ones, the
 * history would be linearizable.
 */
function firstUnexplained(operations: readonly Operation[]): Operation {
  const answered = operations.filter(({ respondedMs }) => respondedMs !== Infinity);
  const inOrder = answered.toSorted((one, other) => one.respondedMs - other.respondedMs);
  const found = inOrder.find(({ respondedMs }) => isContradictory(historyUntil(operations, respondedMs)));
  if (found === undefined) throw new TypeError('The history must not be linearizable');
  return found;
}

/**
 * Describes each outcome of the operation `culprit` that would make the history linearizable. Returns an empty array if
 * `culprit` is a list of several keys.
 */
function possibleOutcomes(history: readonly Operation[], culprit: Operation): string[] {
  return otherOutcomes(history, culprit).flatMap(({ operation, text }) => {
    const changed = history.map((other) => (other === culprit ? operation : other));
    return checkLinearizable(changed) === 'linearizable' ? [text] : [];
  });
}

function otherOutcomes(history: readonly Operation[], culprit: Operation): { operation: Operation; text: string }[] {
  switch (culprit.kind) {
    case 'create':
      return (['created', 'taken'] as const).map((outcome) => ({ operation: { ...culprit, outcome }, text: outcome }));
    case 'delete':
      return (['deleted', 'absent'] as const).map((outcome) => ({ operation: { ...culprit, outcome }, text: outcome }));
    case 'list': {
      const [key, ...others] = [...(culprit.outcome?.keys() ?? [])];
      if (key === undefined || others.length > 0) return [];
      const names = history.flatMap((operation) => (operation.kind === 'create' ? [operation.name] : []));
      const contents: Content[] = [undefined, ...names];
      return contents.map((content) => ({
        operation: { ...culprit, outcome: new Map([[key, content]]) },
        text: content ?? 'no plant',
      }));
    }
  }
}
