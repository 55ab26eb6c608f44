import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from '../../../../src/tools/cli/output/printable.ts';

describe('printable', () => {
  it('escapes control characters, format controls and line separators, but no text', () => {
    for (const [text, expected] of [
      [' Ada Lovelace 🌱 שלום é \\u202e', ' Ada Lovelace 🌱 שלום é \\u202e'],
      ['a\n\u0000\u001b[2J\u007f\u009b31m', 'a\\u000a\\u0000\\u001b[2J\\u007f\\u009b31m'],
      ['\u061c\u200f\u202e\u2066\ufeff\u00ad', '\\u061c\\u200f\\u202e\\u2066\\ufeff\\u00ad'],
      ['\u{e0041}\u2028', '\\udb40\\udc41\\u2028'],
    ] as const) {
      assert.equal(printable(text), expected);
    }
  });
});
