import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pageTurn } from '../../src/store/list-scheduler.ts';

/** Lets `count` lists of a user wait. `given` collects the names of those that had their turn, in order. */
function waitFor<T = number>(
  count: number,
  given: T[] = [],
  user = 'ada',
  nameOf = (n: number): T => n as T,
): { given: T[]; all: Promise<unknown> } {
  const turns = Array.from({ length: count }, (_, n) => pageTurn(user).then(() => given.push(nameOf(n))));
  return { given, all: Promise.all(turns) };
}

describe('pageTurn', () => {
  it('lets one list read per event loop iteration, in order of arrival', async () => {
    const { given, all } = waitFor(5);
    let before = 0;
    for (let iteration = 0; iteration < 10; iteration++) {
      await nextTurn();
      assert.ok(given.length - before <= 1, `${given.length - before} in an iteration`);
      before = given.length;
    }
    await all;
    assert.deepEqual(given, [0, 1, 2, 3, 4]);
  });

  it('alternates between users, and between the lists of each user', async () => {
    const given: string[] = [];
    const adas = waitFor(4, given, 'ada', (n) => `ada ${n}`);
    const bobs = waitFor(1, given, 'bob', (n) => `bob ${n}`);
    const eves = waitFor(2, given, 'eve', (n) => `eve ${n}`);
    await bobs.all;
    // A list that has read a page waits again, after the other lists of its user.
    const again = waitFor(1, given, 'bob', () => 'bob again');
    await Promise.all([adas.all, eves.all, again.all]);
    assert.deepEqual(given, ['ada 0', 'bob 0', 'eve 0', 'ada 1', 'bob again', 'eve 1', 'ada 2', 'ada 3']);
  });

  it('gives every list its turn, even with thousands and with lists that arrive later', async () => {
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
