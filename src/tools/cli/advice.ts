const checkHost = 'Check the host name in the connection string.';
const checkAddress = 'Check the host and the port in the connection string, and that the database is running.';
const checkPermissions = 'Check the owner and the permissions of the file and its folder.';
const checkCredentials = 'Check the user and the password in the connection string.';
const checkPath = 'Check the path: a part of it is not a folder.';
const allowHost = 'Allow this host, user and database in pg_hba.conf, or set sslmode if only TLS is allowed.';
const grantRights = 'Grant the user the rights to connect to the database, and to create, read and write the table.';
const setPassword = 'Set the password in the connection string or in PGPASSWORD.';
const removeParameters = 'Behind a connection pooler, remove options and all timeouts but query_timeout.';
const freeSpace = 'Free space on the disk.';

/**
 * Maps error codes to advice for the user: codes of Node.js, PostgreSQL (SQLSTATE) and this package, and SQLite's
 * primary result codes (https://www.sqlite.org/rescode.html).
 */
const adviceByCode = new Map<unknown, string>([
  ['ENOTFOUND', checkHost],
  ['EAI_AGAIN', checkHost],
  ['ECONNREFUSED', checkAddress],
  ['ECONNRESET', checkAddress],
  ['EHOSTUNREACH', checkAddress],
  ['ETIMEDOUT', checkAddress],
  ['EACCES', checkPermissions],
  ['EPERM', checkPermissions],
  ['EROFS', 'Choose a folder on a file system that is not read-only.'],
  ['ENOSPC', freeSpace],
  ['ENOENT', 'Check the path.'],
  ['ENOTDIR', checkPath],
  ['EEXIST', checkPath],
  ['EMFILE', 'Raise the limit of open files (ulimit -n).'],
  ['08P01', removeParameters],
  ['28P01', checkCredentials],
  ['28000', checkCredentials],
  ['3D000', 'Create the database, or check its name in the connection string.'],
  ['3F000', 'Create the schema, or check its name in the connection string.'],
  ['42P01', 'Check the database, the schema and the table in the connection string.'],
  ['42501', grantRights],
  ['25006', 'Connect to the primary, with a role that may write.'],
  ['53100', freeSpace],
  ['55P03', 'End the transaction that locks the table: see pg_locks and pg_stat_activity.'],
  ['57014', 'Check statement_timeout of the role and the database.'],
  ['storage_unsupported', 'Choose another storage, or restore a backup.'],
  [5, 'Try again when no other process is writing to the file.'],
  [8, checkPermissions],
  [13, freeSpace],
]);

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
  if ('errcode' in error) return adviceByCode.get(Number(error.errcode) & 0xff);
  // The code 28000 can also mean that the user does not exist. Even a translated message contains the file name.
  if (error.code === '28000' && error.message.includes('pg_hba.conf')) return allowHost;
  return adviceFor(error.cause) ?? adviceByCode.get(error.code);
}

/** Returns whether an operation failed for lack of space on the disk of the storage. */
export function isDiskFull(error: unknown): boolean {
  return adviceFor(error) === freeSpace;
}

/** Appends the advice about an error to a text that describes it. */
export function withAdvice(text: string, error: unknown): string {
  const advice = adviceFor(error);
  return advice === undefined ? text : `${/[.)]$/.test(text) ? text : `${text}.`} ${advice}`;
}
