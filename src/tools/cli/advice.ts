const checkAddress = 'Check the host and the port in the connection string, and that the database is running.';
const checkPermissions = 'Check the owner and the permissions of the file and its folder.';
const checkCredentials = 'Check the user and the password in the connection string.';
const allowHost =
  'Allow this host, user and database in pg_hba.conf, or set sslmode if they are allowed only with TLS.';
const freeSpace = 'Free space on the disk.';

/**
 * Maps error codes to advice for the user. The string codes are those of Node.js, PostgreSQL (SQLSTATE) and this
 * package. The numbers are SQLite's primary result codes (https://www.sqlite.org/rescode.html).
 */
const adviceByCode = new Map<unknown, string>([
  ['ENOTFOUND', 'Check the host name in the connection string.'],
  ['EAI_AGAIN', 'Check the host name in the connection string, and the name server of this machine.'],
  ['ECONNREFUSED', checkAddress],
  ['ECONNRESET', checkAddress],
  ['EHOSTUNREACH', checkAddress],
  ['ETIMEDOUT', checkAddress],
  ['EACCES', checkPermissions],
  ['EPERM', checkPermissions],
  ['EROFS', 'Choose a folder on a file system that is not read-only.'],
  ['ENOSPC', freeSpace],
  ['ENOENT', 'Check the path.'],
  ['ENOTDIR', 'Check the path: a part of it is not a folder.'],
  ['EEXIST', 'Check the path: a part of it is not a folder.'],
  ['EMFILE', 'Raise the limit of open files (ulimit -n).'],
  ['28P01', checkCredentials],
  ['28000', checkCredentials],
  ['3D000', 'Create the database, or check its name in the connection string.'],
  ['3F000', 'Create the schema, or check its name in the connection string.'],
  ['42P01', 'Check the database, the schema and the table in the connection string.'],
  [
    '42501',
    'Give the user of the connection string the right to connect to the database, and to create, read and write the table.',
  ],
  [
    '08P01',
    'Behind a connection pooler, remove options and all timeouts but query_timeout from the connection string.',
  ],
  ['25006', 'Connect to the primary, with a role that may write: this database accepts only reads.'],
  ['55P03', 'End the transaction that locks the table: see pg_locks and pg_stat_activity.'],
  ['57014', 'Check statement_timeout of the role and the database: the statement was canceled.'],
  ['storage_unsupported', 'Choose another storage, or restore a backup.'],
  [5, 'Try again when no other process is writing to the file.'],
  [8, 'Check the owner and the permissions of the file, of its -wal and -shm files, and of its folder.'],
  [13, freeSpace],
]);

/**
 * Returns a sentence that tells the user what to do about an error, or `undefined` if there is no advice. Advice for
 * the code of the error's cause takes precedence over advice for the error's own code. An `Error` without a code comes
 * from this package, and its message already says what to do.
 */
export function adviceFor(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  if ('errcode' in error) return adviceByCode.get(Number(error.errcode) & 0xff);
  // The code 28000 can also mean that the user does not exist. Even a translated message contains the file name.
  if (error.code === '28000' && error.message.includes('pg_hba.conf')) return allowHost;
  return adviceFor(error.cause) ?? adviceByCode.get(error.code);
}

/** Appends the advice about an error to a text that describes it. */
export function withAdvice(text: string, error: unknown): string {
  const advice = adviceFor(error);
  if (advice === undefined) return text;
  return `${/[.)]$/.test(text) ? text : `${text}.`} ${advice}`;
}
