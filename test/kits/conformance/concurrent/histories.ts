import type { Operation } from '../../../../src/kits/conformance/concurrent/history.ts';

type Span = readonly [invokedMs: number, respondedMs: number];

/** A create of the plant `name` under the key 0, or another one. */
export function create(
  [invokedMs, respondedMs]: Span,
  name: string,
  outcome: 'created' | 'taken' | undefined,
  key = 0,
): Operation {
  return { kind: 'create', key, name, outcome, client: 0, invokedMs, respondedMs };
}

/** A delete of the key 0, or another one. */
export function remove([invokedMs, respondedMs]: Span, outcome: 'deleted' | 'absent' | undefined, key = 0): Operation {
  return { kind: 'delete', key, outcome, client: 1, invokedMs, respondedMs };
}

/** A list of all keys. */
export function list([invokedMs, respondedMs]: Span, ...contents: readonly (string | undefined)[]): Operation {
  return { kind: 'list', outcome: new Map(contents.entries()), client: 2, invokedMs, respondedMs };
}
