import { noPlant } from '../../../../src/kits/conformance/concurrent/history.ts';
import type { Operation } from '../../../../src/kits/conformance/concurrent/history.ts';

type Span = readonly [invokedMs: number, respondedMs: number];

/** A create of the plant `name` under the key 0, or another one. Without an outcome, it is unknown. */
export function create(
  [invokedMs, respondedMs]: Span,
  name: string,
  outcome?: 'created' | 'taken',
  key = 0,
): Operation {
  return { kind: 'create', keys: [key], name, outcome: outcome && [outcome], client: 0, invokedMs, respondedMs };
}

/** A delete of the key 0, or another one. Without an outcome, it is unknown. */
export function remove([invokedMs, respondedMs]: Span, outcome?: 'deleted' | 'absent', key = 0): Operation {
  return { kind: 'delete', keys: [key], name: '', outcome: outcome && [outcome], client: 1, invokedMs, respondedMs };
}

/** A list of the keys from 0. The contents are names, or `undefined` for no plant. */
export function list([invokedMs, respondedMs]: Span, ...contents: readonly (string | undefined)[]): Operation {
  const outcome = contents.map((content) => content ?? noPlant);
  return { kind: 'list', keys: [...contents.keys()], name: '', outcome, client: 2, invokedMs, respondedMs };
}
