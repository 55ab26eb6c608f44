/** Matches the characters that must be escaped in a JSON string (RFC 8259 §7). */
// eslint-disable-next-line no-control-regex
const needsEscape = /["\\\u0000-\u001f]/;

/**
 * Converts a string to the form in which a column holds it: its JSON without the quotes. Most strings stay the same.
 * This form allows the JSON of a list to be built by concatenation.
 */
export function toColumn(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** Converts a string from its column form back to the original. */
export function fromColumn(column: string): string {
  return column.includes('\\') ? (JSON.parse(`"${column}"`) as string) : column;
}
