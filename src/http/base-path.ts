/** Matches one or more path segments (RFC 3986 §3.3), each preceded by a slash. */
const pathPattern = /^(?:\/(?:[\w\-.~!$&'()*+,;=:@]|%[\da-f]{2})+)+$/i;

/**
 * Checks that a `basePath` is empty or a path such as `/garden`.
 *
 * @throws {TypeError} if `path` is anything else; the message names the option.
 */
export function checkBasePath(path: unknown): void {
  if (path === '' || (typeof path === 'string' && pathPattern.test(path))) return;
  throw new TypeError('basePath must be a path that begins with a slash and does not end with one, such as /garden');
}
