import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isUser } from '../../../src/core/model/user.ts';

describe('isUser', () => {
  const longest = ['x'.repeat(255), 'é'.repeat(127) + 'x', '\u2698'.repeat(85), '\u{1F33F}'.repeat(63) + 'xyz', 'x'];

  it('accepts up to 255 bytes of UTF-8, and rejects 256', () => {
    for (const user of longest) {
      assert.ok(isUser(user), user);
      assert.equal(isUser(`${user}${'x'.repeat(256 - Buffer.byteLength(user))}`), false, user);
    }
  });

  it('rejects the empty string, values that are not strings, and text that some storage cannot hold', () => {
    for (const user of ['', 'a\0b', '\uD800', 'a\uDC00b', null, undefined, 7, {}, ['ada']]) {
      assert.equal(isUser(user), false);
    }
  });
});
