import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isLinearizable, user } from './linearizable.ts';
import type { Operation } from './linearizable.ts';

type Span = readonly [invokedMs: number, respondedMs: number];

function create([invokedMs, respondedMs]: Span, name: string, outcome?: boolean, id = 0n): Operation {
  return { request: { kind: 'create', user, plant: { id, name } }, outcome, invokedMs, respondedMs };
}

function remove([invokedMs, respondedMs]: Span, outcome: boolean): Operation {
  return { request: { kind: 'delete', user, id: 0n }, outcome, invokedMs, respondedMs };
}

function list([invokedMs, respondedMs]: Span, ...outcome: readonly string[]): Operation {
  return { request: 'list', outcome, invokedMs, respondedMs };
}

const slowCreate = create([0, 10], 'a', true);
const lostResponse = create([0, Infinity], 'a');
/** The create without a response takes effect after the delete. */
const lateEffect = [lostResponse, list([5, 6]), remove([7, 8], false), create([9, 10], 'b', false)];

const explained = [
  [slowCreate, create([1, 9], 'b', true), remove([2, 8], true), list([11, 12], 'b')],
  [...lateEffect, list([11, 12], 'a')],
  [lostResponse, list([5, 6])],
];
const unexplained = [
  [create([0, 1], 'a', true), list([2, 3])],
  [slowCreate, create([1, 9], 'b', true)],
  [...lateEffect, list([11, 12])],
  // Two lists show two creates in different orders.
  [slowCreate, create([0, 10], 'b', true, 1n), list([1, 9], 'a'), list([2, 8], 'b')],
];

it('isLinearizable returns whether some order of the requests explains all responses', () => {
  for (const history of explained) assert.ok(isLinearizable(history) && isLinearizable(history.toReversed()));
  for (const history of unexplained) assert.ok(!isLinearizable(history) && !isLinearizable(history.toReversed()));
});
