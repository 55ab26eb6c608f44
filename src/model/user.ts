import { isStorableString } from './plant.ts';

/**
 * The longest user, in bytes of UTF-8: OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters. A storage
 * keeps the user in the key of every plant, and a key has a maximum size (2704 bytes in PostgreSQL).
 */
const maxUserBytes = 255;

/** No UTF-16 code unit takes more bytes of UTF-8 than this. */
const maxBytesPerCodeUnit = 3;

/** The rule for users, for error messages: `user must be …`. */
export const userRule = 'a string of 1 to 255 bytes of UTF-8, without U+0000 and without unpaired surrogates';

/** Whether `value` can be a user. */
export function isUser(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isShortEnough(value) && isStorableString(value);
}

function isShortEnough(text: string): boolean {
  if (text.length * maxBytesPerCodeUnit <= maxUserBytes) return true;
  return text.length <= maxUserBytes && Buffer.byteLength(text) <= maxUserBytes;
}
