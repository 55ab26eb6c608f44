/** The characters that JSON does not allow unescaped in a string (RFC 8259 §7). */
// eslint-disable-next-line no-control-regex
const needsEscape = /["\\\u0000-\u001f]/;

/**
 * Converts a text to its column form: the content of a JSON string, without the quotes. Most texts do not change, and
 * the JSON of a list is built by concatenation.
 */
export function toColumn(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** Returns the text that a column holds. */
export function fromColumn(column: string): string {
  return column.includes('\\') ? (JSON.parse(`"${column}"`) as string) : column;
}
