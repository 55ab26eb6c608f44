import { historyOf, historyUntil, isRead, noPlant } from './history.ts';
import type { Operation, Outcome } from './history.ts';
import { checkLinearizable } from './linearizable.ts';

/** A short history that is not linearizable, taken from a longer history. */
export interface Contradiction {
  /** The operations, in the order in which they began. */
  readonly operations: readonly Operation[];
  /** The operation whose response no order of the operations can explain. */
  readonly culprit: Operation;
  /** The outcomes that would have been possible instead; empty if the operation lists several ids. */
  readonly possible: readonly Outcome[];
}

/**
 * Shortens a history that is not linearizable. Omits everything after the first response that cannot be explained. If
 * the history of one id is not linearizable by itself, omits the other ids. Finally, omits reads that the
 * contradiction does not depend on.
 */
export function findContradiction(operations: readonly Operation[]): Contradiction {
  const first = firstUnexplained(operations);
  const isCulprit = ({ invokedMs, client }: Operation): boolean =>
    invokedMs === first.invokedMs && client === first.client;
  const known = historyUntil(operations, first.respondedMs);
  const allIds = new Set(operations.flatMap(({ ids }) => ids));
  let history = [...allIds].map((id) => historyOf(known, id)).find(isContradictory) ?? known;
  for (const operation of history) {
    const shorter = history.filter((other) => other !== operation);
    if (isRead(operation) && !isCulprit(operation) && isContradictory(shorter)) history = shorter;
  }
  const culprit = history.find(isCulprit) ?? first;
  return {
    operations: history.toSorted((one, other) => one.invokedMs - other.invokedMs),
    culprit,
    possible: possibleOutcomes(history, culprit),
  };
}

function isContradictory(history: readonly Operation[]): boolean {
  return checkLinearizable(history) === 'not linearizable';
}

/**
 * Returns the operation with the first response that cannot be explained. Without this response and all later
 * responses, the history would be linearizable.
 */
function firstUnexplained(operations: readonly Operation[]): Operation {
  const answered = operations.filter(({ respondedMs }) => respondedMs !== Infinity);
  const inOrder = answered.toSorted((one, other) => one.respondedMs - other.respondedMs);
  const found = inOrder.find(({ respondedMs }) => isContradictory(historyUntil(operations, respondedMs)));
  if (found === undefined) throw new TypeError('The history must not be linearizable');
  return found;
}

/** Returns each outcome of the operation `culprit` that would make the history linearizable. */
function possibleOutcomes(history: readonly Operation[], culprit: Operation): Outcome[] {
  if (culprit.ids.length > 1) return [];
  const names = history.filter(({ kind }) => kind === 'create').map(({ name }) => name);
  const outcomes = { create: ['created', 'taken'], delete: ['deleted', 'absent'], list: [noPlant, ...names] };
  return outcomes[culprit.kind].filter((outcome) => {
    const changed = history.map((other) => (other === culprit ? { ...culprit, outcome: [outcome] } : other));
    return checkLinearizable(changed) === 'linearizable';
  });
}

/** Describes a contradiction as lines of text: its operations with their times, and the unexplained response. */
export function describeContradiction({ operations, culprit, possible }: Contradiction): string[] {
  const startMs = Math.min(...operations.map(({ invokedMs }) => invokedMs));
  const time = (ms: number): string =>
    ms === Infinity ? 'no response' : `${(ms - startMs).toFixed(2).padStart(8)} ms`;
  const lines = operations.map((operation) => {
    const { client, invokedMs, respondedMs } = operation;
    const mark = operation === culprit ? '→' : ' ';
    return `${mark} ${time(invokedMs)} to ${time(respondedMs)}  client ${client}  ${describe(operation)}`;
  });
  const alternatives = possible.length === 0 ? '' : ` Possible would be: ${possible.join(', ')}.`;
  return [...lines, `No order of these requests explains the response marked with an arrow.${alternatives}`];
}

function describe({ kind, ids, name, outcome = ['unknown'] }: Operation): string {
  if (kind === 'list') return `GET: ${ids.map((id, index) => `id ${id} ${outcome[index] ?? ''}`).join(', ')}`;
  const request = kind === 'create' ? `POST id ${ids.join()} name ${name}` : `DELETE id ${ids.join()}`;
  return `${request}: ${outcome.join()}`;
}
