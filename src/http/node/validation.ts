import type { IncomingMessage } from 'node:http';
import { HttpError } from '../http-error.ts';

/**
 * Matches the value of a `Host` header: an address in brackets or a name (which may be empty), then an optional port
 * (RFC 3986 §3.2.2 and §3.2.3).
 */
const hostAndPort = /^(?:\[[\da-f:.]+\]|[\w\-.~%!$&'()*+,;=]*)(?::\d*)?$/i;

/**
 * The maximum number of fields in a request header. node:http keeps each field of an incomplete header as two strings.
 * Without this limit, a header of 16 KiB would use more than 150 KB.
 */
export const maxHeaderFields = 128;

/** Returns the error for a request that node:http has accepted but that must be refused. */
export function refusalOf(request: IncomingMessage): HttpError | undefined {
  // `rawHeaders` contains two elements for each field. On Node.js 22 and 24, node:http drops the fields after the first
  // `maxHeadersCount` without an error. The server keeps more fields than this function accepts, so a request with
  // dropped fields is refused.
  if (request.rawHeaders.length > maxHeaderFields * 2) return new HttpError('header_too_large');
  return isMalformed(request) ? new HttpError('malformed_request') : undefined;
}

/**
 * Returns whether a request violates RFC 9112 although node:http has accepted it. Such a request has:
 * - an unsupported HTTP version;
 * - a missing, repeated or invalid `Host` header (§3.2); or
 * - a transfer coding that node:http does not decode, or any transfer coding in HTTP/1.0 (§6.1).
 */
function isMalformed(request: IncomingMessage): boolean {
  const { headers, httpVersion } = request;
  const isLatest = httpVersion === '1.1';
  if (!isLatest && httpVersion !== '1.0') return true;
  const { host, 'transfer-encoding': coding } = headers;
  if (coding !== undefined && !(isLatest && coding.toLowerCase() === 'chunked')) return true;
  if (host === undefined) return isLatest;
  return !hostAndPort.test(host) || countHeader(request, 'host') !== 1;
}

/** Returns the values of a header in the order in which they were sent. `name` must be in lower case. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/**
 * Returns how many times a header was sent. Uses `rawHeaders`, because `headers` might not contain all values of a
 * repeated header. `name` must be in lower case.
 */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at];
    if (header?.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}
