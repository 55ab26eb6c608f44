import { noPlant } from '../../../../src/kits/conformance/concurrent/history.ts';
import type { Operation } from '../../../../src/kits/conformance/concurrent/history.ts';

type Span = readonly [invokedMs: number, respondedMs: number];

/** Returns an operation that creates the plant `name` with a key; by default, 0. The outcome is unknown if omitted. */
export function create(
  [invokedMs, respondedMs]: Span,
  name: string,
  outcome?: 'created' | 'taken',
  key = 0,
): Operation {
  return { kind: 'create', keys: [key], name, outcome: outcome && [outcome], client: 0, invokedMs, respondedMs };
}

/** Returns an operation that deletes a key; by default, 0. The outcome is unknown if omitted. */
export function remove([invokedMs, respondedMs]: Span, outcome?: 'deleted' | 'absent', key = 0): Operation {
  return { kind: 'delete', keys: [key], name: '', outcome: outcome && [outcome], client: 1, invokedMs, respondedMs };
}

/** Returns an operation that lists the keys from 0. `contents` has a name for each key; `undefined` means no plant. */
export function list([invokedMs, respondedMs]: Span, ...contents: readonly (string | undefined)[]): Operation {
  const outcome = contents.map((content) => content ?? noPlant);
  return { kind: 'list', keys: [...contents.keys()], name: '', outcome, client: 2, invokedMs, respondedMs };
}
