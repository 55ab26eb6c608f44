import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkLinearizable } from '../../../../src/kits/conformance/concurrent/linearizable.ts';
import type { Operation } from '../../../../src/kits/conformance/concurrent/history.ts';
import { create, list, remove } from './histories.ts';

const linearizable: Record<string, Operation[]> = {
  'no operations': [],
  'a sequence': [
    list([0, 1], undefined),
    create([2, 3], 'a', 'created'),
    create([4, 5], 'b', 'taken'),
    list([6, 7], 'a'),
    remove([8, 9], 'deleted'),
    remove([10, 11], 'absent'),
    create([12, 13], 'c', 'created'),
    list([14, 15], 'c'),
  ],
  'a list that overlaps a create, before it': [create([0, 10], 'a', 'created'), list([1, 2], undefined)],
  'a list that overlaps a create, after it': [create([0, 10], 'a', 'created'), list([1, 2], 'a')],
  'two overlapping lists in the order of the effects': [
    create([0, 10], 'a', 'created'),
    list([1, 2], undefined),
    list([3, 4], 'a'),
  ],
  'an end at the moment of a beginning': [create([0, 5], 'a', 'created'), list([5, 6], undefined)],
  'overlapping creates, of which one succeeds': [
    create([0, 10], 'a', 'created'),
    create([1, 9], 'b', 'taken'),
    list([11, 12], 'a'),
  ],
  'overlapping creates and a delete': [
    create([0, 10], 'a', 'created'),
    create([1, 9], 'b', 'created'),
    remove([2, 8], 'deleted'),
    list([11, 12], 'b'),
  ],
  'a create without a response that took effect': [create([0, Infinity], 'a', undefined), list([5, 6], 'a')],
  'a create without a response that did not take effect': [
    create([0, Infinity], 'a', undefined),
    list([5, 6], undefined),
  ],
  'a create without a response that took effect late': [
    create([0, Infinity], 'a', undefined),
    list([5, 6], undefined),
    remove([7, 8], 'absent'),
    create([9, 10], 'b', 'taken'),
    list([11, 12], 'a'),
  ],
  'a delete without a response that took effect late': [
    create([0, 1], 'a', 'created'),
    remove([2, Infinity], undefined),
    list([5, 6], 'a'),
    create([7, 8], 'b', 'created'),
    list([9, 10], 'b'),
  ],
  'a list without a response': [
    create([0, 1], 'a', 'created'),
    { ...list([2, 3]), outcome: undefined, respondedMs: Infinity },
  ],
  'independent keys': [
    create([0, 10], 'a', 'created'),
    create([0, 10], 'b', 'created', 1),
    list([2, 3], undefined, 'b'),
    list([4, 5], 'a', 'b'),
  ],
};

const contradictory: Record<string, Operation[]> = {
  'a stale read': [create([0, 1], 'a', 'created'), list([2, 3], undefined)],
  'a stale read after a delete': [create([0, 1], 'a', 'created'), remove([2, 3], 'deleted'), list([4, 5], 'a')],
  'a lost write': [create([0, 1], 'a', 'created'), create([2, 3], 'b', 'created')],
  'a lost write that a delete reveals': [create([0, 1], 'a', 'created'), remove([2, 3], 'absent')],
  'two creates that both succeed': [create([0, 10], 'a', 'created'), create([1, 9], 'b', 'created')],
  'two deletes that both succeed': [
    create([0, 1], 'a', 'created'),
    remove([2, 10], 'deleted'),
    remove([3, 9], 'deleted'),
  ],
  'the delete of a plant that never existed': [remove([0, 1], 'deleted')],
  'a taken id that was never created': [create([0, 1], 'a', 'taken')],
  'reads in the wrong order': [create([0, 10], 'a', 'created'), list([1, 2], 'a'), list([3, 4], undefined)],
  'a plant of a create that was refused': [
    create([0, 1], 'a', 'created'),
    create([2, 3], 'b', 'taken'),
    list([4, 5], 'b'),
  ],
  'lists that see two creates in different orders': [
    create([0, 10], 'a', 'created'),
    create([0, 10], 'b', 'created', 1),
    list([1, 9], 'a', undefined),
    list([2, 8], undefined, 'b'),
  ],
  'a list that is no snapshot': [
    create([0, 1], 'a', 'created'),
    create([2, 3], 'b', 'created', 1),
    remove([4, 5], 'deleted'),
    list([2, 10], 'a', undefined),
    list([11, 12], 'a', 'b'),
  ],
  'a create without a response that is undone': [
    create([0, Infinity], 'a', undefined),
    list([1, 2], 'a'),
    list([3, 4], undefined),
  ],
  'a create without a response that takes effect before it was sent': [
    list([0, 1], 'a'),
    create([2, Infinity], 'a', undefined),
  ],
};

describe('checkLinearizable', () => {
  for (const [name, history] of Object.entries(linearizable)) {
    it(`accepts ${name}`, () => {
      assert.equal(checkLinearizable(history), 'linearizable');
    });
  }

  for (const [name, history] of Object.entries(contradictory)) {
    it(`refuses ${name}`, () => {
      assert.equal(checkLinearizable(history), 'not linearizable');
    });
  }

  it('does not depend on the order of the array', () => {
    for (const history of Object.values(linearizable)) {
      assert.equal(checkLinearizable(history.toReversed()), 'linearizable');
    }
    for (const history of Object.values(contradictory)) {
      assert.equal(checkLinearizable(history.toReversed()), 'not linearizable');
    }
  });

  it('gives up after a number of states', () => {
    const names = Array.from({ length: 12 }, (_, index) => `${index}`);
    const creates = names.map((name) => create([0, 100], name, 'taken'));
    assert.equal(checkLinearizable(creates, 5), 'not linearizable');
    const pairs = names.flatMap((name) => [create([0, 100], name, 'created'), remove([0, 100], 'deleted')]);
    assert.equal(checkLinearizable([...pairs, list([101, 102], 'none')], 100), 'undecided');
  });

  it('agrees with a search through all orders', () => {
    const operation: fc.Arbitrary<Operation> = fc
      .record({
        start: fc.integer({ min: 0, max: 12 }),
        length: fc.oneof(
          { weight: 5, arbitrary: fc.integer({ min: 1, max: 6 }) },
          { weight: 1, arbitrary: fc.constant(Infinity) },
        ),
        kind: fc.constantFrom('create' as const, 'delete' as const, 'list' as const),
        isSuccess: fc.boolean(),
        key: fc.integer({ min: 0, max: 1 }),
        seen: fc.tuple(
          fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
          fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
        ),
        name: fc.integer({ min: 0, max: 4 }),
      })
      .map(({ start, length, kind, isSuccess, key, seen, name }) => {
        const span = [start, start + length] as const;
        const isKnown = length !== Infinity;
        if (kind === 'create') {
          return create(span, String(name), isKnown ? (isSuccess ? 'created' : 'taken') : undefined, key);
        }
        if (kind === 'delete') return remove(span, isKnown ? (isSuccess ? 'deleted' : 'absent') : undefined, key);
        return list([start, start + 2], ...seen.map((each) => (each === undefined ? undefined : String(each))));
      });
    const verdicts = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
        const verdict = checkLinearizable(history);
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
        assert.equal(verdict === 'linearizable', hasOrder(history, []), JSON.stringify(history));
      }),
      { numRuns: 3000 },
    );
    assert.ok([...verdicts.values()].length === 2, JSON.stringify([...verdicts]));
  });
});

/** Tries all orders and checks each as a whole: slow, but obviously right. */
function hasOrder(rest: readonly Operation[], order: readonly Operation[]): boolean {
  if (rest.every(({ respondedMs }) => respondedMs === Infinity) && isExplained(order)) return true;
  return rest.some((next) =>
    hasOrder(
      rest.filter((other) => other !== next),
      [...order, next],
    ),
  );
}

function isExplained(order: readonly Operation[]): boolean {
  const isInTime = order.every((one, index) =>
    order.slice(index + 1).every((later) => later.respondedMs >= one.invokedMs),
  );
  const plants = new Map<number, string>();
  return (
    isInTime &&
    order.every((operation) => {
      if (operation.kind === 'list') {
        return [...(operation.outcome ?? [])].every(([key, name]) => plants.get(key) === name);
      }
      const was = plants.has(operation.key);
      if (operation.kind === 'delete') {
        plants.delete(operation.key);
        return operation.outcome === undefined || was === (operation.outcome === 'deleted');
      }
      if (!was) plants.set(operation.key, operation.name);
      return operation.outcome === undefined || was === (operation.outcome === 'taken');
    })
  );
}
