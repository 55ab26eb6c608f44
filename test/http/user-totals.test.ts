import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UserTotals } from '../../src/http/user-totals.ts';

describe('UserTotals', () => {
  it('adds up the values of each user and of all users', () => {
    const totals = new UserTotals();
    totals.add('ada', 5);
    totals.add('bob', 7);
    totals.add('ada', -2);
    assert.deepEqual([totals.of('ada'), totals.of('bob'), totals.of('eve'), totals.all], [3, 7, 0, 10]);
    totals.add('bob', -7);
    assert.deepEqual([totals.of('bob'), totals.all], [0, 3]);
  });

  it('includes at most maxOfUser of each user in the total', () => {
    const totals = new UserTotals(10);
    totals.add('ada', 25);
    totals.add('bob', 4);
    assert.deepEqual([totals.of('ada'), totals.all], [25, 14]);
    totals.add('ada', -20);
    assert.equal(totals.all, 9);
    totals.add('ada', -5);
    totals.add('bob', -4);
    assert.equal(totals.all, 0);
  });
});
