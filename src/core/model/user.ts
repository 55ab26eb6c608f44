import { isStorableString } from './storable-string.ts';

/**
 * The maximum length of a user string, in UTF-8 bytes. OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters.
 * A limit is also necessary because the user is part of each plant's key, and databases limit the size of a key (2704
 * bytes in PostgreSQL).
 */
const maxUserBytes = 255;

/** The maximum number of UTF-8 bytes per UTF-16 code unit. */
const maxBytesPerCodeUnit = 3;

/**
 * Checks whether `value` is a valid user: a string of 1 to 255 UTF-8 bytes without U+0000 and without unpaired
 * surrogates.
 */
export function isUser(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isShortEnough(value) && isStorableString(value);
}

function isShortEnough(text: string): boolean {
  if (text.length * maxBytesPerCodeUnit <= maxUserBytes) return true;
  return text.length <= maxUserBytes && Buffer.byteLength(text) <= maxUserBytes;
}
