import { noPlant } from '../../../src/testing/service/history.ts';
import type { Operation } from '../../../src/testing/service/history.ts';

type Span = readonly [invokedMs: number, respondedMs: number];

/** Returns an operation that creates the plant `name` with an id; by default, 0. The outcome is unknown if omitted. */
export function create(
  [invokedMs, respondedMs]: Span,
  name: string,
  outcome?: 'created' | 'taken',
  id = 0n,
): Operation {
  return { kind: 'create', ids: [id], name, outcome: outcome && [outcome], invokedMs, respondedMs };
}

/** Returns an operation that deletes an id; by default, 0. The outcome is unknown if omitted. */
export function remove([invokedMs, respondedMs]: Span, outcome?: 'deleted' | 'absent', id = 0n): Operation {
  return { kind: 'delete', ids: [id], name: '', outcome: outcome && [outcome], invokedMs, respondedMs };
}

/** Returns an operation that lists the ids from 0. `contents` has a name for each id; `undefined` means no plant. */
export function list([invokedMs, respondedMs]: Span, ...contents: readonly (string | undefined)[]): Operation {
  const outcome = contents.map((content) => content ?? noPlant);
  return {
    kind: 'list',
    ids: Array.from(contents.keys(), BigInt),
    name: '',
    outcome,
    invokedMs,
    respondedMs,
  };
}
