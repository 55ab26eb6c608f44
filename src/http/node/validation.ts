import type { IncomingMessage } from 'node:http';

/** RFC 3986 §3.2.2 and §3.2.3: an address in brackets or a name, which may be empty, and a port. */
const hostAndPort = /^(?:\[[\da-f:.]+\]|[\w\-.~%!$&'()*+,;=]*)(?::\d*)?$/i;

/**
 * Whether a request is none by RFC 9112, though node:http lets it through: another version, no
 * Host, two or one that is no host (§3.2), or transfer codings that node:http does not decode or
 * that HTTP/1.0 does not have (§6.1).
 */
export function isMalformed(request: IncomingMessage): boolean {
  const { headers, httpVersion } = request;
  const isLatest = httpVersion === '1.1';
  if (!isLatest && httpVersion !== '1.0') return true;
  const { host, 'transfer-encoding': coding } = headers;
  if (coding !== undefined && !(isLatest && coding.toLowerCase() === 'chunked')) return true;
  if (host === undefined) return isLatest;
  return !hostAndPort.test(host) || countHeader(request, 'host') !== 1;
}

/** The values of a header, in the order in which they were sent; `name` in lower case. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/** How often a header stands in a request; `name` in lower case. Of some node:http keeps the first and says nothing. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at];
    if (header?.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}
