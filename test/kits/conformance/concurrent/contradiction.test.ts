import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeContradiction, findContradiction } from '../../../../src/kits/conformance/concurrent/contradiction.ts';
import { create, list, remove } from './histories.ts';

describe('findContradiction', () => {
  it('reduces a history to the first contradiction, with one id and only the relevant reads', () => {
    const found = findContradiction([
      create([0, 1], 'a', 'created'),
      create([0, 2], 'x', 'created', 1n),
      list([3, 4], 'a', 'x'),
      create([5, 6], 'b', 'taken'),
      remove([7, 8], 'deleted', 1n),
      list([9, 10], undefined, undefined),
      list([11, 12], undefined, undefined),
      remove([13, 14], 'absent'),
    ]);
    assert.deepEqual(found.operations, [create([0, 1], 'a', 'created'), list([9, 10], undefined)]);
    assert.deepEqual(found.culprit, list([9, 10], undefined));
    assert.deepEqual(found.possible, ['a']);
  });

  it('treats a request that was in progress at the contradiction as a request without a response', () => {
    const { operations, possible } = findContradiction([
      create([0, 1], 'a', 'created'),
      remove([2, 20], 'deleted'),
      create([3, 10], 'b', 'created'),
      list([11, 12], 'a'),
    ]);
    assert.deepEqual(operations, [
      create([0, 1], 'a', 'created'),
      remove([2, Infinity]),
      create([3, 10], 'b', 'created'),
      list([11, 12], 'a'),
    ]);
    assert.deepEqual(possible, ['b']);
  });

  it('throws a TypeError for a linearizable history', () => {
    assert.throws(() => findContradiction([create([0, 1], 'a', 'created')]), TypeError);
  });
});

describe('describeContradiction', () => {
  it('shows the operations with their times and the response that cannot be explained', () => {
    const contradiction = findContradiction([
      create([100, 101.5], 'a', 'created', 7n),
      create([102, Infinity], 'b', undefined, 7n),
      remove([103, 104], 'absent', 7n),
    ]);
    assert.deepEqual(describeContradiction(contradiction), [
      '      0.00 ms to     1.50 ms  client 0  POST id 7 name a: created',
      '      2.00 ms to no response  client 0  POST id 7 name b: unknown',
      '→     3.00 ms to     4.00 ms  client 1  DELETE id 7: absent',
      'No order of these requests explains the response marked with an arrow. Possible would be: deleted.',
    ]);
  });

  it('shows what a list contained', () => {
    const lines = describeContradiction(findContradiction([create([0, 1], 'a', 'created'), list([2, 3], undefined)]));
    assert.equal(lines[1], '→     2.00 ms to     3.00 ms  client 2  GET: id 0 no plant');
  });
});
