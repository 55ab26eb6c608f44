/**
 * Makes a text safe for a line of a terminal: control characters, format controls such as U+202E
 * (which reverses the text after it), and line and paragraph separators become `\uXXXX`.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => character.split('').map(escaped).join(''));
}

/** A UTF-16 code unit as JSON escapes it. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
