import { errorTable } from '../../core/model/errors.ts';

const freeSpace = 'Free space on the disk.';
const setPassword = 'Set the password in the connection string or in PGPASSWORD.';

/**
 * Advice by error codes: codes of Node.js, PostgreSQL (SQLSTATE) and this package, and SQLite's primary result codes
 * (https://www.sqlite.org/rescode.html).
 */
const advice: readonly [codes: string, sentence: string][] = [
  ['ENOTFOUND EAI_AGAIN', 'Check the host name in the connection string.'],
  [
    'ECONNREFUSED ECONNRESET EHOSTUNREACH ETIMEDOUT',
    'Check the host and the port in the connection string, and that the database is running.',
  ],
  ['EACCES EPERM 8', 'Check the owner and the permissions of the file and its folder.'],
  ['ENOSPC 53100 13', freeSpace],
  ['ENOENT', 'Check the path.'],
  ['08P01', 'Behind a connection pooler, remove options and all timeouts but query_timeout.'],
  ['3F000', 'Create the schema, or check its name in the connection string.'],
  ['42P01', 'Check the database, the schema and the table in the connection string.'],
  ['42501', 'Grant the user the rights to connect to the database, and to create, read and write the table.'],
  ['25006', 'Connect to the primary, with a role that may write.'],
  ['storage_unsupported', 'Choose another storage, or restore a backup.'],
  ['5', 'Try again when no other process is writing to the file.'],
];

function adviceByCode(code: unknown): string | undefined {
  return advice.find(([codes]) => codes.split(' ').includes(String(code)))?.[1];
}

/**
 * Returns a sentence that tells the user what to do about an error, or `undefined` if there is no advice. Advice for
 * the cause of an error takes precedence. An `Error` without a code comes from this package, and its message already
 * says what to do.
 */
export function adviceFor(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // `pg` throws this error, which has no code, if the database asks for a password and none is set.
  if (error.message.includes('client password must be a string')) return setPassword;
  if (!('code' in error)) return undefined;
  if ('errcode' in error) return adviceByCode(Number(error.errcode) & 0xff);
  return adviceFor(error.cause) ?? adviceByCode(error.code);
}

/** Returns whether an operation failed for lack of space on the disk of the storage. */
export function isDiskFull(error: unknown): boolean {
  return adviceFor(error) === freeSpace;
}

/** Describes an error and its causes on one line, with advice for the user if there is any. */
export function describeError(error: unknown): string {
  const [summary, sentence] = [summarize(error), adviceFor(error)];
  return sentence === undefined ? summary : `${/[.)]$/.test(summary) ? summary : `${summary}.`} ${sentence}`;
}

/** Omits the general message that clients receive when the storage fails, unless the cause is unknown. */
function summarize(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If a host name has several addresses and no connection succeeds, the error is an AggregateError whose own message
  // is empty.
  const reasons: unknown[] = error instanceof AggregateError && error.message === '' ? error.errors : [error.cause];
  const { message } = error;
  const causes = reasons.filter((reason) => reason !== undefined).map(summarize);
  const added = causes.filter((text) => !message.includes(text)).join(', ');
  if (message === '' || (message === errorTable.storage_unavailable.message && added !== '')) return added;
  return added === '' ? message : `${message} (${added})`;
}
