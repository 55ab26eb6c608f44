import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mintToken, randomBase62, tokenDigest } from '../../src/tokens/token.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC-32 bit by bit (ISO 3309), independent of the library that the code uses. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function numberFromBase62(digits: string): number {
  return Array.from(digits).reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0);
}

describe('mintToken', () => {
  const tokens = Array.from({ length: 1000 }, mintToken);

  it('returns a prefix and 36 base62 digits, which are a b64token (RFC 6750 §2.1)', () => {
    for (const token of tokens) assert.match(token, /^pst_[0-9A-Za-z]{36}$/);
  });

  it('ends with the CRC-32 of the 30 random digits', () => {
    assert.equal(crc32('123456789'), 0xcbf43926, 'the check value of CRC-32');
    for (const token of tokens) assert.equal(numberFromBase62(token.slice(-6)), crc32(token.slice(4, 34)), token);
  });

  it('returns distinct tokens', () => {
    assert.equal(new Set(tokens).size, tokens.length);
  });
});

describe('randomBase62', () => {
  it('returns text of the given length', () => {
    for (const length of [0, 1, 10, 30]) assert.equal(randomBase62(length).length, length);
  });

  it('uses all 62 digits equally often', () => {
    const counts = new Map<string, number>();
    for (const digit of randomBase62(62_000)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    assert.deepEqual([...counts.keys()].sort(), Array.from(alphabet).sort());
    // Six standard deviations of 31.4: correct code fails about once in eight million runs.
    for (const [digit, count] of counts) assert.ok(Math.abs(count - 1000) < 189, `${digit} occurs ${count} times`);
  });
});

describe('tokenDigest', () => {
  it('returns the SHA-256 in hexadecimal', () => {
    assert.equal(tokenDigest('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
