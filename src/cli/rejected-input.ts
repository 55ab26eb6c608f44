/** Returns whether an error of node:http means that it rejected a request. Disconnects are not rejected requests. */
export function isRejectedInput({ code = '' }: NodeJS.ErrnoException): boolean {
  return /^HPE_(?!INVALID_EOF_STATE)|^ERR_HTTP_REQUEST_TIMEOUT/.test(code);
}
