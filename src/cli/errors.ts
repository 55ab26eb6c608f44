import { errorChain, isError } from '../boundary/error-text.ts';
import { errorTable, isPlantStoreError } from '../core/model/errors.ts';
import { WrongFileError } from '../files/file.ts';
import { sqlState } from '../storage/postgres/statements.ts';

/** Thrown if a command cannot run as requested. The message says what to change. The process exits with code 2. */
export class UsageError extends Error {}

/** Turns an error of `parse` into a UsageError that names the flag or variable `source` instead of an option. */
export function withUsageError<T>(source: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    const { message } = error as Error;
    const [, problem = `is invalid: ${message}`] = /^(?:basePath|corsOrigin) (.*)/s.exec(message) ?? [];
    throw new UsageError(`${source} ${problem}.`, { cause: error });
  }
}

const generalMessages = ['', errorTable.storage_unavailable.message, errorTable.storage_unsupported.message];

/** Describes an error and its causes on one line, without the general messages that clients receive. */
export function describeError(error: unknown): string {
  const texts: string[] = [];
  for (const each of errorChain(error)) {
    const text = isError(each) ? each.message : String(each);
    if (!generalMessages.includes(text) && !texts.some((shown) => shown.includes(text))) texts.push(text);
  }
  const [first = isError(error) ? error.message : '', ...causes] = texts;
  if (texts.some((text) => text.includes('client password must be a string'))) {
    return 'The database asks for a password: set it in the connection string or in PGPASSWORD.';
  }
  return causes.length === 0 ? first : `${first} (${causes.join(', ')})`;
}

/** Adds the place to an SQLite error, whose message does not name the file. Returns any other error unchanged. */
export function addPlace(place: string, error: unknown): unknown {
  if (!isError(error) || !('errcode' in error)) return error;
  return new Error(`${place} cannot be used: ${error.message}.`, { cause: error });
}

const wrongSettingCodes: ReadonlySet<string | undefined> = new Set([
  // SQLSTATEs: a role that may not log in, a wrong password, a missing database, schema or table, a missing privilege,
  // and an unknown or invalid parameter in `options`.
  ...['28000', '28P01', '3D000', '3F000', '42P01', '42501', '42704', '22023'],
  // Codes of Node.js for a certificate that `sslmode`, `sslrootcert` or the host name does not allow.
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID'],
]);

/** The errors of `pg` itself have no SQLSTATE, and PgBouncer uses 08P01 for all of its errors. */
const wrongSettingMessage =
  /password must be|support SSL|SSL required|auth\w+ failed|startup parameter|no such database|^database .* not exist/;

/** Returns whether an error recurs until a setting, a file or the database is changed. */
export function isWrongSetting(error: unknown): boolean {
  return [...errorChain(error)].some((each) => {
    if (isPlantStoreError(each)) return each.code === 'storage_unsupported';
    if (each instanceof WrongFileError) return true;
    return isError(each) && (wrongSettingCodes.has(sqlState(each)) || wrongSettingMessage.test(each.message));
  });
}
