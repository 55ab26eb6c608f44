import { isError } from '../boundary/error-text.ts';
import { errorTable } from '../core/model/errors.ts';

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
