/**
 * Makes a string safe to print as one line on a terminal. Replaces control characters, format controls such as U+202E
 * (which reverses the text after it), and line and paragraph separators with `\uXXXX`.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => character.split('').map(escaped).join(''));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
