import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { mintToken } from '../../src/tokens/token.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function numberFromBase62(digits: string): number {
  return Array.from(digits).reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0);
}

describe('mintToken', () => {
  it('returns a prefix, 30 random base62 digits, and their CRC-32 as 6 base62 digits', () => {
    const tokens = Array.from({ length: 1000 }, mintToken);
    for (const token of tokens) {
      assert.match(token, /^pst_[0-9A-Za-z]{36}$/);
      assert.equal(numberFromBase62(token.slice(-6)), crc32(token.slice(4, 34)), token);
    }
    assert.equal(new Set(tokens).size, tokens.length);
    assert.equal(new Set(tokens.map((token) => token.slice(4, 34)).join('')).size, 62);
  });
});
