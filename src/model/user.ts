import { isStorableString } from './storable-string.ts';

/**
 * The maximum length of a user, in UTF-8 bytes. OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters. The
 * user is part of every plant's key in a database, and the size of a key is limited (2704 bytes in PostgreSQL).
 */
const maxUserBytes = 255;

/** The maximum number of UTF-8 bytes per UTF-16 code unit. */
const maxBytesPerCodeUnit = 3;

/** Checks whether `value` is a valid user: see the code `invalid_user`. */
export function isUser(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isShortEnough(value) && isStorableString(value);
}

function isShortEnough(text: string): boolean {
  if (text.length * maxBytesPerCodeUnit <= maxUserBytes) return true;
  return text.length <= maxUserBytes && Buffer.byteLength(text) <= maxUserBytes;
}
