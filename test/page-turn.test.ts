import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pageTurn } from '../src/page-turn.ts';

/** As many that wait; `given` are those that had their turn, in order. */
function waitFor(count: number, given: number[] = []): { given: number[]; all: Promise<unknown> } {
  return { given, all: Promise.all(Array.from({ length: count }, (_, n) => pageTurn().then(() => given.push(n)))) };
}

describe('pageTurn', () => {
  it('lets one list read in each turn of the event loop, in order of arrival', async () => {
    const { given, all } = waitFor(5);
    let before = 0;
    for (let turn = 0; turn < 10; turn++) {
      await nextTurn();
      assert.ok(given.length - before <= 1, `${given.length - before} in a turn`);
      before = given.length;
    }
    await all;
    assert.deepEqual(given, [0, 1, 2, 3, 4]);
  });

  it('forgets nobody where very many wait, nor who comes later', async () => {
    const many = waitFor(2500);
    await nextTurn();
    const later = waitFor(2, many.given);
    await Promise.all([many.all, later.all]);
    assert.deepEqual(many.given, [...Array(2500).keys(), 0, 1]);
    const again = waitFor(1);
    await again.all;
    assert.deepEqual(again.given, [0]);
  });
});
