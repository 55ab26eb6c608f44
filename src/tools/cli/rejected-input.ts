/**
 * Checks whether a `clientError` means that node:http rejected a request. Disconnects do not count as rejected
 * requests.
 */
export function isRejectedInput({ code = '' }: NodeJS.ErrnoException): boolean {
  return /^HPE_(?!INVALID_EOF_STATE)|^ERR_HTTP_REQUEST_TIMEOUT/.test(code);
}
