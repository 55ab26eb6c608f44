/** The primary SQLite result codes that this package distinguishes: https://www.sqlite.org/rescode.html */
const resultCode = {
  error: 1,
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  tooBig: 18,
  notADatabase: 26,
};

/**
 * The result codes of faults. If a commit fails with one of these codes, the outcome is unknown, or the connection can
 * no longer commit. A lock timeout (5) and a full disk (13) are not faults, because SQLite itself rolls back the
 * transaction in these cases.
 */
const faultCodes = ['readOnly', 'ioError', 'corrupt', 'cannotOpen', 'notADatabase'] as const;

/**
 * Checks whether an error from a commit is a fault. After a fault, the connection must not be used for another commit.
 */
export function isFault(error: unknown): boolean {
  return faultCodes.some((name) => hasResultCode(error, name));
}

/**
 * Checks whether an error has this primary result code. In a node:sqlite error, the primary result code is the low byte
 * of `errcode`: https://www.sqlite.org/rescode.html#pve
 */
export function hasResultCode(error: unknown, name: keyof typeof resultCode): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === resultCode[name];
}
