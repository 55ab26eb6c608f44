import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUser } from '../../src/model/user.ts';

describe('isUser', () => {
  const atTheLimit = ['x'.repeat(255), 'é'.repeat(127) + 'x', '\u2698'.repeat(85), '\u{1F33F}'.repeat(63) + 'xyz', 'x'];

  it('accepts 1 to 255 bytes of UTF-8', () => {
    for (const user of atTheLimit) {
      assert.ok(isUser(user), user);
      assert.equal(isUser(`${user}${'x'.repeat(256 - Buffer.byteLength(user))}`), false, user);
    }
  });

  it('rejects what no storage can hold', () => {
    for (const user of ['', 'a\0b', '\uD800', 'a\uDC00b', null, undefined, 7, {}, ['ada']]) {
      assert.equal(isUser(user), false);
    }
  });
});
