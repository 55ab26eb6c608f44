import type { ServiceRequest } from '../service-request.ts';
import { readBody } from './request-body.ts';

/**
 * Adapts a WHATWG `Request` to {@link ServiceRequest}. Nothing is copied, because each member reads the original
 * request on access.
 */
export class FetchRequest implements ServiceRequest {
  readonly #request: Request;
  /**
   * Always empty, because there is no standard way to find out which prefix a framework has removed. Applications set
   * the `basePath` option instead.
   */
  readonly mountPath = '';
  /**
   * Always `undefined`, because a `Request` does not contain the peer's address. The `trustedProxies` option uses
   * `X-Forwarded-For` instead.
   */
  readonly peerAddress = undefined;

  constructor(request: Request) {
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  /**
   * The path and query of the URL. The URL may have any scheme, such as the custom scheme of a desktop app. The
   * fragment is removed, because it is not part of a request target.
   */
  get target(): string {
    return this.#request.url.replace(/^[^:/?#]+:\/\/[^/?#]*/, '').replace(/#.*$/, '');
  }

  get isOpen(): boolean {
    return !this.#request.signal.aborted;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  readBody(maxBytes: number): Promise<Buffer> {
    return readBody(this.#request, maxBytes);
  }
}

/**
 * Checks that a value has the members of a `Request`. Does not use `instanceof`, because frameworks may pass instances
 * of their own classes, and test runners may run code in another realm.
 *
 * @throws {TypeError} if a member is missing.
 */
export function checkRequest(value: unknown): void {
  const { url, headers } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof url === 'string' && typeof (headers as Partial<Headers> | undefined)?.get === 'function') return;
  throw new TypeError('The argument of the fetch handler must be a Request, such as event.request or context.req.raw');
}
