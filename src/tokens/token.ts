import { hash, randomInt } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns a new bearer token. Its 36 random base62 digits have log2(62^36) ≈ 214 bits of entropy. */
export function mintToken(): string {
  return `pst_${randomBase62(36)}`;
}

export function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}
