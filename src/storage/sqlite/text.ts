/** What JSON does not take in a string as it is (RFC 8259 §7). */
// eslint-disable-next-line no-control-regex
const needsEscape = /["\\\u0000-\u001f]/;

/**
 * A text as the columns hold it: as it stands between the quotes of a JSON string. Most texts are
 * the same there, and a list becomes JSON by putting texts side by side.
 */
export function toColumn(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** The text that a column holds. */
export function fromColumn(column: string): string {
  return column.includes('\\') ? (JSON.parse(`"${column}"`) as string) : column;
}
