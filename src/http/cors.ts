import type { HeaderList, ServiceRequest } from './exchange.ts';

/** How long a browser may reuse the response to a preflight request, in seconds. Chromium caps the value at 7200. */
const maxAge = '7200';

const exposed = 'Link, WWW-Authenticate, Retry-After, X-Request-Id';
const requestHeaders = 'Authorization, Content-Type, X-Request-Id, traceparent';

/**
 * Parses the `corsOrigin` option: `*`, or origins as browsers send them (RFC 6454 §6.2).
 *
 * @throws {TypeError} if the option is invalid; the message names it.
 */
export function parseCorsOrigin(value: unknown): readonly string[] {
  const origins: unknown[] = Array.isArray(value) ? value : [value];
  if (origins.every(isOrigin) && (origins.length === 1 || !origins.includes('*'))) return origins;
  throw new TypeError(
    "corsOrigin must be '*' or origins such as https://app.example.com, in lower case and without a path or default port",
  );
}

function isOrigin(value: unknown): value is string {
  if (typeof value !== 'string' || !/^(?:\*|[a-z][a-z\d+.-]*:\/\/[^\s/?#@*,'"A-Z]+)$/.test(value)) return false;
  if (!/^https?:/.test(value)) return true;
  return URL.parse(value)?.origin === value;
}

/** Lets web pages from other origins call the service (https://fetch.spec.whatwg.org/#http-cors-protocol). */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  headers(request: ServiceRequest): HeaderList {
    const origin = this.#allowed(request);
    const vary = this.#origins.has('*') ? [] : ['Vary', 'Origin'];
    if (origin === undefined) return vary;
    return [...vary, 'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed];
  }

  /** Returns the additional headers for the response to an OPTIONS request, which may be a CORS preflight request. */
  preflightHeaders(request: ServiceRequest, methods: string): HeaderList {
    if (this.#allowed(request) === undefined) return [];
    const allow = ['Access-Control-Allow-Methods', methods, 'Access-Control-Allow-Headers', requestHeaders];
    return [...allow, 'Access-Control-Max-Age', maxAge];
  }

  /** Returns the value of `Access-Control-Allow-Origin`, or `undefined` if the request's origin is not allowed. */
  #allowed(request: ServiceRequest): string | undefined {
    if (this.#origins.has('*')) return '*';
    const origin = request.header('origin');
    return origin !== undefined && this.#origins.has(origin) ? origin : undefined;
  }
}
