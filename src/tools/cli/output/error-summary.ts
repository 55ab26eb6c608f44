/** Returns the messages of an error and of its causes on one line. */
export function errorSummary(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If a host name has several addresses and no connection succeeds, the error is an AggregateError whose own message
  // is empty.
  const reasons = error instanceof AggregateError && error.message === '' ? error.errors : [error.cause];
  const texts = reasons.filter((reason) => reason !== undefined).map(errorSummary);
  return [error.message, ...texts].filter((text) => text !== '').join(' ');
}
