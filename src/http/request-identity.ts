import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { ServiceRequest } from './service-request.ts';

/** 1 to 128 visible ASCII characters. Without `"` and `\`, so that every log format can contain the id as it is. */
const usableId = /^[!#-[\]-~]{1,128}$/;

/** The `traceparent` header: version 00 has four fields, and later versions may have more (W3C Trace Context §3.2). */
const traceparent = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

type Headers = Pick<ServiceRequest, 'header'>;

/** Returns the value of the `X-Request-Id` header if it is usable, otherwise a new UUID. */
export function requestIdOf(request: Headers): string {
  const sent = request.header('x-request-id');
  return sent !== undefined && usableId.test(sent) ? sent : randomUUID();
}

/** Returns the trace-id of the `traceparent` header, or `undefined` if there is no valid one. */
export function traceIdOf(request: Headers): string | undefined {
  const [, version, traceId, more] = traceparent.exec(request.header('traceparent') ?? '') ?? [];
  return version === '00' && more !== undefined ? undefined : traceId;
}

/**
 * Returns the address of the client. Each of the `trustedProxies` proxies has appended the address of its own client to
 * `X-Forwarded-For`. Addresses further to the left are not used, because clients can send this header themselves. If
 * the header has too few addresses, the request has not passed all proxies, and the address of the connection is used.
 */
export function clientOf(
  request: Pick<ServiceRequest, 'header' | 'peerAddress'>,
  trustedProxies: number,
): string | undefined {
  if (trustedProxies === 0) return request.peerAddress;
  const forwarded = request.header('x-forwarded-for')?.split(',').at(-trustedProxies)?.trim() ?? '';
  return isIP(forwarded) === 0 ? request.peerAddress : forwarded;
}
