import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import { checkLinearizable, perform, user } from './linearizable.ts';
import type { Operation } from './linearizable.ts';

type Span = readonly [invokedMs: number, respondedMs: number];

/** Returns an operation that creates the plant `name`, by default with the id 0. */
function create([invokedMs, respondedMs]: Span, name: string, outcome?: boolean, id = 0n): Operation {
  return { request: { kind: 'create', user, plant: { id, name } }, outcome, invokedMs, respondedMs };
}

/** Returns an operation that deletes a plant, by default the one with the id 0. */
function remove([invokedMs, respondedMs]: Span, outcome?: boolean, id = 0n): Operation {
  return { request: { kind: 'delete', user, id }, outcome, invokedMs, respondedMs };
}

function list([invokedMs, respondedMs]: Span, ...outcome: readonly string[]): Operation {
  return { request: 'list', outcome, invokedMs, respondedMs };
}

const slowlyCreated = create([0, 10], 'a', true);

/** Histories of a kind that random histories rarely contain. */
const rare: readonly Operation[][] = [
  [slowlyCreated, create([1, 9], 'b', true), remove([2, 8], true), list([11, 12], 'b')],
  // A create without a response took effect late.
  [create([0, Infinity], 'a'), list([5, 6]), remove([7, 8], false), create([9, 10], 'b', false), list([11, 12], 'a')],
  // Two lists see two creates in different orders.
  [slowlyCreated, create([0, 10], 'b', true, 1n), list([1, 9], 'a'), list([2, 8], 'b')],
];

describe('checkLinearizable', () => {
  it('gives up after the maximum number of states', () => {
    const names = Array.from({ length: 12 }, (_, index) => `${index}`);
    const creates = names.map((name) => create([0, 100], name, false));
    assert.equal(checkLinearizable(creates, 5), 'not linearizable');
    const pairs = names.flatMap((name) => [create([0, 100], name, true), remove([0, 100], true)]);
    assert.equal(checkLinearizable([...pairs, list([101, 102], 'none')], 100), 'undecided');
  });

  it('returns the same verdict as a search through all orders', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const id = fc.constantFrom(0n, 1n);
    const span = fc
      .tuple(fc.integer({ min: 0, max: 12 }), fc.constantFrom(1, 2, 3, 4, 6, Infinity))
      .map(([start, length]) => [start, start + length] as const);
    const forget = (operation: Operation): Operation =>
      operation.respondedMs === Infinity ? { ...operation, outcome: undefined } : operation;
    const operation = fc
      .oneof(
        fc.tuple(span, name, fc.boolean(), id).map((fields) => create(...fields)),
        fc.tuple(span, fc.boolean(), id).map((fields) => remove(...fields)),
        fc.tuple(span, fc.array(name, { maxLength: 2 })).map(([times, names]) => list(times, ...names)),
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
  const store = new ReferenceStore();
  return order.every((operation) => perform(store, operation));
}
