import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { ServiceRequest } from './service-request.ts';

/**
 * Matches an id of 1 to 128 visible ASCII characters. The characters `"` and `\` are excluded, so that no log format
 * has to escape the id.
 */
const usableId = /^[!#-[\]-~]{1,128}$/;

/**
 * Matches a `traceparent` header. Version 00 has four fields, and later versions may have more (W3C Trace Context
 * §3.2).
 */
const traceparent = /^(?!ff|00.{53}-)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

type Headers = Pick<ServiceRequest, 'header'>;

/**
 * The random prefix of the ids that this process creates. The prefix makes these ids different from those of other
 * processes.
 */
const ownPrefix = randomBytes(9).toString('base64url');
let ownIds = 0;

/**
 * Returns the value of the `X-Request-Id` header if it is usable, otherwise a new unique id. Building an id from a
 * random prefix and a counter takes a third of the time that generating a UUID would take.
 */
export function requestIdOf(request: Headers): string {
  const sent = request.header('x-request-id');
  if (sent !== undefined && usableId.test(sent)) return sent;
  ownIds++;
  return `${ownPrefix}-${ownIds.toString(36)}`;
}

/** Returns the value of the `traceparent` header, or `undefined` if it is not valid. */
export function traceparentOf(request: Headers): string | undefined {
  const sent = request.header('traceparent');
  return sent !== undefined && traceparent.test(sent) ? sent : undefined;
}

/**
 * Returns the client's address. Each trusted proxy appends the address of its own client to `X-Forwarded-For`.
 * Therefore, with N trusted proxies, the Nth address from the right is returned. Addresses further to the left are
 * ignored, because the client may have sent them. If the header contains fewer than N addresses, the request has not
 * passed through all proxies, and the connection's remote address is returned.
 */
export function clientOf(
  request: Pick<ServiceRequest, 'header' | 'peerAddress'>,
  trustedProxies: number,
): string | undefined {
  if (trustedProxies === 0) return request.peerAddress;
  const forwarded = request.header('x-forwarded-for')?.split(',').at(-trustedProxies)?.trim() ?? '';
  return isIP(forwarded) === 0 ? request.peerAddress : forwarded;
}
