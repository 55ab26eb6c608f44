import { errorTable } from '../../../core/model/errors.ts';

/**
 * Returns the messages of an error and its causes on one line. Omits the general message that clients receive when the
 * storage fails, unless the cause is unknown.
 */
export function errorSummary(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If a host name has several addresses and no connection succeeds, the error is an AggregateError whose own message
  // is empty.
  const reasons = error instanceof AggregateError && error.message === '' ? error.errors : [error.cause];
  const texts = reasons.filter((reason) => reason !== undefined).map(errorSummary);
  const { message } = error;
  const isGeneral = message === errorTable.storage_unavailable.message && texts.length > 0;
  return [isGeneral ? '' : message, ...texts].filter((text) => text !== '').join(' ');
}
