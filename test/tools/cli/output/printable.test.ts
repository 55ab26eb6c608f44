import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from '../../../../src/tools/cli/output/printable.ts';

describe('printable', () => {
  for (const [what, text, expected] of [
    ['does not change text of any script', ' Ada Lovelace 🌱 שלום é \\u202e', ' Ada Lovelace 🌱 שלום é \\u202e'],
    ['escapes control characters', 'a\n\u0000\u001b[2J\u007f\u009b31m', 'a\\u000a\\u0000\\u001b[2J\\u007f\\u009b31m'],
    [
      'escapes characters that change the direction',
      '\u061c\u200f\u202a\u202e\u2066',
      '\\u061c\\u200f\\u202a\\u202e\\u2066',
    ],
    ['escapes invisible characters', '\u200b\ufeff\u00ada\u{e0041}', '\\u200b\\ufeff\\u00ada\\udb40\\udc41'],
    ['escapes line and paragraph separators', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
  ] as const) {
    it(what, () => {
      assert.equal(printable(text), expected);
    });
  }
});
