import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InFlight } from '../../src/http/in-flight.ts';

function begin(inFlight: InFlight, user: string, count: number): void {
  for (let n = 0; n < count; n++) inFlight.begin(user);
}

describe('InFlight', () => {
  it('refuses a request past three quarters of the maximum to one user, and to no other', () => {
    const inFlight = new InFlight(8);
    begin(inFlight, 'ada', 6);
    assert.throws(
      () => {
        inFlight.begin('ada');
      },
      { code: 'saturated' },
    );
    begin(inFlight, 'bob', 2);
    inFlight.end('ada');
    begin(inFlight, 'ada', 1);
    assert.throws(
      () => {
        inFlight.begin('ada');
      },
      { code: 'saturated' },
    );
  });

  it('refuses every request past the maximum', () => {
    const inFlight = new InFlight(8);
    begin(inFlight, 'ada', 4);
    begin(inFlight, 'bob', 4);
    assert.throws(
      () => {
        inFlight.begin('eve');
      },
      { code: 'saturated' },
    );
    inFlight.end('bob');
    begin(inFlight, 'eve', 1);
  });

  it('lets a user have one request of a maximum of one', () => {
    const inFlight = new InFlight(1);
    begin(inFlight, 'ada', 1);
    assert.throws(
      () => {
        inFlight.begin('bob');
      },
      { code: 'saturated' },
    );
    inFlight.end('ada');
    begin(inFlight, 'bob', 1);
  });
});
