/**
 * Checks whether every storage adapter can store `text`. PostgreSQL cannot store U+0000, and UTF-8 cannot encode
 * unpaired surrogates.
 */
export function isStorableString(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
