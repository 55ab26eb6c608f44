import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The number of random base62 digits in a token. The digits have log2(62^30) ≈ 178.6 bits of entropy. */
const secretLength = 30;
/** The number of base62 digits for the CRC-32. Six digits are sufficient, because 62^6 > 2^32. */
const checksumLength = 6;

/** Returns a new bearer token. Its CRC-32 lets a secret scanner distinguish the token from similar text. */
export function mintToken(): string {
  const secret = randomBase62(secretLength);
  return `pst_${secret}${base62(crc32(secret)).padStart(checksumLength, '0')}`;
}

export function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

function base62(value: number): string {
  let digits = '';
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) digits = `${alphabet[rest % 62] ?? ''}${digits}`;
  return digits;
}
