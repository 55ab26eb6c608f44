/** Matches the characters that must be escaped in a JSON string (RFC 8259 §7). */
// eslint-disable-next-line no-control-regex
const needsEscape = /["\\\u0000-\u001f]/;

/**
 * Converts a string to JSON-escaped text, which is the form in which a column stores it: a JSON string without its
 * quotation marks. Most strings do not change. From such text, SQL can build the JSON of a page by concatenation.
 */
export function toColumn(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** Converts the text of a column back to the original string. */
export function fromColumn(column: string): string {
  return column.includes('\\') ? (JSON.parse(`"${column}"`) as string) : column;
}
