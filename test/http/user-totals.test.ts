import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UserTotals } from '../../src/http/user-totals.ts';

describe('UserTotals', () => {
  it('adds up for each user, and for all', () => {
    const totals = new UserTotals();
    totals.add('ada', 5);
    totals.add('bob', 7);
    totals.add('ada', -2);
    assert.deepEqual([totals.of('ada'), totals.of('bob'), totals.of('eve'), totals.all], [3, 7, 0, 10]);
    totals.add('bob', -7);
    assert.deepEqual([totals.of('bob'), totals.all], [0, 3]);
  });

  it('counts a user in the total up to maxOfUser', () => {
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
