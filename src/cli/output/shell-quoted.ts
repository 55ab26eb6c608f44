/** Quotes a string as one word for a POSIX shell, unless it needs no quotes. */
export function shellQuoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
