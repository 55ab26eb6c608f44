import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import { compareOwned, compareUsers } from '../../src/core/key-order.ts';
import { owned } from '../support/stored-plants.ts';

/** Generates texts, some with code units around the surrogates, where the UTF-16 order differs from the UTF-8 order. */
const user = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{103ff}', '\u{10ffff}') }),
);

describe('compareUsers', () => {
  it('orders users by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(user, user, (a, b) => {
        assert.equal(Math.sign(compareUsers(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });
});

describe('compareOwned', () => {
  it('orders plants by user and then by id', () => {
    const sorted = [
      owned('a', { id: maxInt64, name: '' }),
      owned('b', { id: minInt64, name: '' }),
      owned('b', { id: -1n, name: '' }),
      owned('b', { id: 2n, name: '' }),
      owned('b', { id: 10n, name: '' }),
    ];
    assert.deepEqual([...sorted].reverse().sort(compareOwned), sorted);
    for (const plant of sorted) assert.equal(compareOwned(plant, plant), 0);
  });
});
