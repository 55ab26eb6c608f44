import type { HeaderFields, ServiceRequest } from './exchange.ts';

/** How long a browser may reuse the response to a preflight request, in seconds. Chromium caps the value at 7200. */
const maxAge = '7200';

const exposed = 'Link, WWW-Authenticate, Retry-After, X-Request-Id';

/** A list of header names (RFC 9110 §5.1). */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?: *, *[\w!#$%&'*+.^`|~-]+)*$/;

/** Parses the `corsOrigin` option: `*`, or origins as browsers send them (RFC 6454 §6.2). */
export function parseCorsOrigin(value: unknown): readonly string[] {
  const origins: unknown[] = Array.isArray(value) ? value : [value];
  if (origins.every(isOrigin) && (origins.length === 1 || !origins.includes('*'))) return origins;
  throw new TypeError(
    "corsOrigin must be '*' or origins such as https://app.example.com, " +
      'in lower case and without a path or default port',
  );
}

function isOrigin(value: unknown): value is string {
  if (typeof value !== 'string' || !/^(?:\*|[a-z][a-z\d+.-]*:\/\/[^\s/?#@*,'"A-Z]+)$/.test(value)) return false;
  if (!/^https?:/.test(value)) return true;
  return URL.parse(value)?.origin === value;
}

/** See https://fetch.spec.whatwg.org/#http-cors-protocol. `allow` is `undefined` if no route matches. */
export function corsHeaders(
  origins: readonly string[],
  request: ServiceRequest,
  allow: string | undefined,
): HeaderFields {
  const isPublic = origins.includes('*');
  const vary = isPublic ? {} : { Vary: 'Origin' };
  const origin = isPublic ? '*' : request.header('origin');
  if (origin === undefined || !origins.includes(origin)) return vary;
  const headers = { ...vary, 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposed };
  // Only an OPTIONS request can be a preflight request.
  if (request.method !== 'OPTIONS' || allow === undefined) return headers;
  const requested = request.header('access-control-request-headers') ?? '';
  return {
    ...headers,
    'Access-Control-Allow-Methods': allow,
    // Every name is allowed, because tracing tools add many headers. The service does not read cookies, so a list of
    // allowed names would not add protection.
    ...(headerNames.test(requested) && { 'Access-Control-Allow-Headers': requested }),
    'Access-Control-Max-Age': maxAge,
  };
}
