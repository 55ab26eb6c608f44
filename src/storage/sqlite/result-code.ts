/** https://www.sqlite.org/rescode.html */
const resultCode = { error: 1, busy: 5, readOnly: 8, ioError: 10, corrupt: 11, cannotOpen: 14, tooBig: 18, notADatabase: 26 };

/**
 * From a commit these mean that its outcome is unknown, or that this connection will not do another
 * one. After a lock that did not come free (5) and on a full disk (13) SQLite takes all back itself.
 */
const faultCodes = ['readOnly', 'ioError', 'corrupt', 'cannotOpen', 'notADatabase'] as const;

/** Whether an error from a commit means that the connection must not take another one. */
export function isFault(error: unknown): boolean {
  return faultCodes.some((name) => hasResultCode(error, name));
}

/** node:sqlite answers the extended code, whose low byte is the primary one: https://www.sqlite.org/rescode.html#pve */
export function hasResultCode(error: unknown, name: keyof typeof resultCode): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === resultCode[name];
}
