/** Primary SQLite result codes: https://www.sqlite.org/rescode.html */
const resultCode = {
  error: 1,
  busy: 5,
  readOnly: 8,
  corrupt: 11,
  cannotOpen: 14,
  notADatabase: 26,
};

/** The primary result code is the low byte of `errcode`: https://www.sqlite.org/rescode.html#pve */
export function hasResultCode(error: unknown, name: keyof typeof resultCode): boolean {
  // In Jest, errors from Node.js are not instances of `Error`.
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return (Number(errcode) & 0xff) === resultCode[name];
}
