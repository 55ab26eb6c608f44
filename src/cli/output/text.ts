import { isError } from '../../boundary/error-text.ts';
import { errorTable } from '../../core/model/errors.ts';

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

/**
 * Describes an error and its causes on one line. Omits the general message that clients receive when the storage fails,
 * unless the cause is unknown.
 */
export function describeError(error: unknown): string {
  if (!isError(error)) return String(error);
  const { message } = error;
  if (message.includes('client password must be a string')) {
    return 'The database asks for a password: set it in the connection string or in PGPASSWORD.';
  }
  // If a host name has several addresses and no connection succeeds, the error is an AggregateError whose own message
  // is empty.
  const reasons: unknown[] = message === '' && 'errors' in error ? (error as AggregateError).errors : [error.cause];
  const causes = reasons.filter((reason) => reason !== undefined).map(describeError);
  const added = causes.filter((text) => !message.includes(text)).join(', ');
  if (message === '' || (message === errorTable.storage_unavailable.message && added !== '')) return added;
  return added === '' ? message : `${message} (${added})`;
}
