/** Checks whether every storage can hold `text`: no U+0000, because of PostgreSQL, and well-formed UTF-16. */
export function isStorableString(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
