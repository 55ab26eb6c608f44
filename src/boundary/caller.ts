/** A permission that a token can grant. */
export type Scope = 'plants:read' | 'plants:write';

export const scopes: readonly Scope[] = ['plants:read', 'plants:write'];

/** The caller that a bearer token identifies. */
export interface Caller {
  /** The user whose plants the caller can access, a string of 1 to 255 UTF-8 bytes. */
  readonly user: string;
  /** The caller's scopes; default: all. A string that is not a {@link Scope} is ignored. */
  readonly scopes?: readonly (Scope | (string & {}))[] | undefined;
  /** Identifies the token in the log and in request messages, so it must not be a secret. */
  readonly tokenId?: string | undefined;
}

/** The request that contains a bearer token. */
export interface AuthRequest<Raw = unknown> {
  /** The method, such as `GET`. */
  readonly method: string;
  /** The path without the query and without `basePath`, such as `/plants`. */
  readonly path: string;
  /** Returns the value of a header, or `undefined` if the header was not sent. The case of `name` does not matter. */
  readonly header: (name: string) => string | undefined;
  /**
   * What the web server or the framework passed to the service: the `IncomingMessage` that `createRequestListener`
   * received, or the `Request` that `createFetchHandler` received. Middleware may have added properties to it.
   */
  readonly raw: Raw;
}

/**
 * Returns the caller that a bearer token identifies, or `null` or `undefined` if the token is unknown, expired or
 * revoked. The server then responds with 401. The function must settle within 10 seconds. If it does not, or if it
 * throws an error or returns anything else, the server calls `onError` and responds with 500. If the error is a
 * PlantStoreError with code `storage_unavailable`, the server responds with 503.
 *
 * @example
 * const authenticate: Authenticate = (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null);
 */
export type Authenticate<Raw = unknown> = (
  token: string,
  request: AuthRequest<Raw>,
) => Caller | null | undefined | PromiseLike<Caller | null | undefined>;
