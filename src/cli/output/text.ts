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

/** Quotes a string for a POSIX shell, if necessary. */
export function shellQuoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Formats a number and its unit, such as `1 plant` or `2,000 plants`. `unit` must be in the singular. */
export function formatCount(count: number, unit: string): string {
  return `${count.toLocaleString('en-US')} ${unit}${count === 1 ? '' : 's'}`;
}
