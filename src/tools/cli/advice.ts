const freeSpace = 'Free space on the disk.';
const allowHost = 'Allow this host, user and database in pg_hba.conf, or set sslmode if only TLS is allowed.';
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
  ['EROFS', 'Choose a folder on a file system that is not read-only.'],
  ['ENOSPC 53100 13', freeSpace],
  ['ENOENT', 'Check the path.'],
  ['ENOTDIR EEXIST', 'Check the path: a part of it is not a folder.'],
  ['EMFILE', 'Raise the limit of open files (ulimit -n).'],
  ['08P01', 'Behind a connection pooler, remove options and all timeouts but query_timeout.'],
  ['28P01 28000', 'Check the user and the password in the connection string.'],
  ['3D000', 'Create the database, or check its name in the connection string.'],
  ['3F000', 'Create the schema, or check its name in the connection string.'],
  ['42P01', 'Check the database, the schema and the table in the connection string.'],
  ['42501', 'Grant the user the rights to connect to the database, and to create, read and write the table.'],
  ['25006', 'Connect to the primary, with a role that may write.'],
  ['55P03', 'End the transaction that locks the table: see pg_locks and pg_stat_activity.'],
  ['57014', 'Check statement_timeout of the role and the database.'],
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
  // The code 28000 can also mean that the user does not exist. Even a translated message contains the file name.
  if (error.code === '28000' && error.message.includes('pg_hba.conf')) return allowHost;
  return adviceFor(error.cause) ?? adviceByCode(error.code);
}

/** Returns whether an operation failed for lack of space on the disk of the storage. */
export function isDiskFull(error: unknown): boolean {
  return adviceFor(error) === freeSpace;
}

/** Appends the advice about an error to a text that describes it. */
export function withAdvice(text: string, error: unknown): string {
  const sentence = adviceFor(error);
  return sentence === undefined ? text : `${/[.)]$/.test(text) ? text : `${text}.`} ${sentence}`;
}
