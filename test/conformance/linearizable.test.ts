import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { noPlant } from './history.ts';
import { checkLinearizable } from './linearizable.ts';
import type { Operation } from './history.ts';

type Span = readonly [invokedMs: number, respondedMs: number];

/** Returns an operation that creates the plant `name` with an id; by default, 0. The outcome is unknown if omitted. */
function create([invokedMs, respondedMs]: Span, name: string, outcome?: 'created' | 'taken', id = 0n): Operation {
  return { kind: 'create', ids: [id], name, outcome: outcome && [outcome], invokedMs, respondedMs };
}

/** Returns an operation that deletes an id; by default, 0. The outcome is unknown if omitted. */
function remove([invokedMs, respondedMs]: Span, outcome?: 'deleted' | 'absent', id = 0n): Operation {
  return { kind: 'delete', ids: [id], name: '', outcome: outcome && [outcome], invokedMs, respondedMs };
}

/** Returns an operation that lists the ids from 0. `contents` has a name for each id; `undefined` means no plant. */
function list([invokedMs, respondedMs]: Span, ...contents: readonly (string | undefined)[]): Operation {
  const outcome = contents.map((content) => content ?? noPlant);
  return { kind: 'list', ids: Array.from(contents.keys(), BigInt), name: '', outcome, invokedMs, respondedMs };
}

const slowlyCreated = create([0, 10], 'a', 'created');

/** Histories of a kind that random histories rarely contain. */
const rare: readonly Operation[][] = [
  [slowlyCreated, create([1, 9], 'b', 'created'), remove([2, 8], 'deleted'), list([11, 12], 'b')],
  // A create without a response took effect late.
  [
    create([0, Infinity], 'a'),
    list([5, 6], undefined),
    remove([7, 8], 'absent'),
    create([9, 10], 'b', 'taken'),
    list([11, 12], 'a'),
  ],
  // Two lists see two creates in different orders.
  [slowlyCreated, create([0, 10], 'b', 'created', 1n), list([1, 9], 'a', undefined), list([2, 8], undefined, 'b')],
];

describe('checkLinearizable', () => {
  it('gives up after the maximum number of states', () => {
    const names = Array.from({ length: 12 }, (_, index) => `${index}`);
    const creates = names.map((name) => create([0, 100], name, 'taken'));
    assert.equal(checkLinearizable(creates, 5), 'not linearizable');
    const pairs = names.flatMap((name) => [create([0, 100], name, 'created'), remove([0, 100], 'deleted')]);
    assert.equal(checkLinearizable([...pairs, list([101, 102], 'none')], 100), 'undecided');
  });

  it('returns the same verdict as a search through all orders', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const content = fc.option(name, { nil: undefined });
    const id = fc.constantFrom(0n, 1n);
    const span = fc
      .tuple(fc.integer({ min: 0, max: 12 }), fc.constantFrom(1, 2, 3, 4, 6, Infinity))
      .map(([start, length]) => [start, start + length] as const);
    const forget = (operation: Operation): Operation =>
      operation.respondedMs === Infinity ? { ...operation, outcome: undefined } : operation;
    const operation = fc
      .oneof(
        fc.tuple(span, name, fc.constantFrom('created', 'taken'), id).map((fields) => create(...fields)),
        fc.tuple(span, fc.constantFrom('deleted', 'absent'), id).map((fields) => remove(...fields)),
        fc.tuple(span, content, content).map((fields) => list(...fields)),
      )
      .map(forget);
    const verdicts = new Set<string>();
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
        const verdict = checkLinearizable(history);
        verdicts.add(verdict);
        assert.equal(verdict === 'linearizable', hasOrder(history, []));
      }),
      { numRuns: 3000, examples: rare.flatMap((history) => [[history], [history.toReversed()]]) },
    );
    assert.deepEqual([...verdicts].sort(), ['linearizable', 'not linearizable']);
  });
});

/** Tries all orders and checks each complete order. This search is slow, but obviously correct. */
function hasOrder(rest: readonly Operation[], order: readonly Operation[]): boolean {
  if (rest.every(({ respondedMs }) => respondedMs === Infinity) && isInTime(order) && isExplained(order)) return true;
  return rest.some((next) => {
    const others = rest.filter((other) => other !== next);
    return hasOrder(others, [...order, next]);
  });
}

function isInTime(order: readonly Operation[]): boolean {
  return order.every((one, index) => order.slice(index + 1).every((later) => later.respondedMs >= one.invokedMs));
}

function isExplained(order: readonly Operation[]): boolean {
  const plants = new Map<bigint, string>();
  return order.every(({ kind, ids, name, outcome }) => {
    if (kind === 'list') return !outcome || ids.every((id, n) => (plants.get(id) ?? 'no plant') === outcome[n]);
    const [id = 0n] = ids;
    const was = plants.has(id);
    if (kind === 'delete') plants.delete(id);
    else if (!was) plants.set(id, name);
    return outcome === undefined || was === ['taken', 'deleted'].includes(outcome[0] ?? '');
  });
}
