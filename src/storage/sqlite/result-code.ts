/** SQLite's primary result codes: https://www.sqlite.org/rescode.html */
const resultCode = {
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  cannotOpen: 14,
  tooBig: 18,
  notADatabase: 26,
};

/**
 * If a commit fails with one of these codes, its outcome is unknown, or the connection cannot commit again. After a
 * lock timeout (5) and on a full disk (13), SQLite rolls back by itself.
 */
const faultCodes = ['readOnly', 'ioError', 'corrupt', 'cannotOpen', 'notADatabase'] as const;

/** Checks whether an error from a commit means that the connection must not be used for another commit. */
export function isFault(error: unknown): boolean {
  return faultCodes.some((name) => hasResultCode(error, name));
}

/** Checks the primary result code, the low byte of node:sqlite's `errcode`: https://www.sqlite.org/rescode.html#pve */
export function hasResultCode(error: unknown, name: keyof typeof resultCode): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === resultCode[name];
}
