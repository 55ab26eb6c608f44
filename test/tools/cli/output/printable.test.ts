import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from '../../../../src/tools/cli/output/printable.ts';

describe('printable', () => {
  it('does not change text of any script', () => {
    for (const text of ['', 'Ada Lovelace 🌱', 'שלום', 'é', '\\u202e']) assert.equal(printable(text), text);
  });

  it('escapes control characters', () => {
    assert.equal(printable('a\n\u0000\u001b[2J\u007f\u009b31m'), 'a\\u000a\\u0000\\u001b[2J\\u007f\\u009b31m');
  });

  it('escapes characters that change the direction of text or are invisible', () => {
    const controls = ['\u061c', '\u200b', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\ufeff', '\u00ad'];
    for (const control of controls) {
      const hex = control.charCodeAt(0).toString(16).padStart(4, '0');
      assert.equal(printable(`a${control}b`), `a\\u${hex}b`);
    }
    assert.equal(printable('a\u{e0041}b'), 'a\\udb40\\udc41b');
  });

  it('escapes line and paragraph separators', () => {
    assert.equal(printable('a\u2028b\u2029'), 'a\\u2028b\\u2029');
  });
});
