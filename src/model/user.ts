import { isStorableString } from './plant.ts';

/**
 * The maximum length of a user, in bytes of UTF-8: OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters. A
 * storage keeps the user in the key of every plant, and a key has a maximum size (2704 bytes in PostgreSQL).
 */
const maxUserBytes = 255;

/** The maximum number of UTF-8 bytes for a UTF-16 code unit. */
const maxBytesPerCodeUnit = 3;

/** The rule for users, as text for error messages: `user must be …`. */
export const userRule = 'a string of 1 to 255 bytes of UTF-8, without U+0000 and without unpaired surrogates';

/** Checks whether `value` is a valid user. */
export function isUser(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isShortEnough(value) && isStorableString(value);
}

function isShortEnough(text: string): boolean {
  if (text.length * maxBytesPerCodeUnit <= maxUserBytes) return true;
  return text.length <= maxUserBytes && Buffer.byteLength(text) <= maxUserBytes;
}
