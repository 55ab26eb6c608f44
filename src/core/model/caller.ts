/** A permission that a token can grant. */
export type Scope = 'plants:read' | 'plants:write';

export const scopes: readonly Scope[] = ['plants:read', 'plants:write'];

/** The caller that a bearer token identifies. */
export interface Caller {
  /** The user whose plants the caller may access: a string of 1 to 255 UTF-8 bytes. */
  readonly user: string;
  /**
   * The scopes of the caller; by default all scopes. Each {@link Scope} grants a permission. Other strings, such as the
   * scopes of other services in an access token, are ignored.
   */
  readonly scopes?: readonly string[] | undefined;
  /**
   * Identifies the token in the log and in request messages. The identifier is not a secret.
   */
  readonly tokenId?: string | undefined;
}

/**
 * A function that returns the caller that a bearer token identifies. If the token is unknown, expired or revoked, the
 * function returns `null` or `undefined`, and the server responds with 401.
 *
 * If the function throws, rejects, or does not settle within 10 seconds, the server reports the error to `onError` and
 * responds with 500, or with 503 if the error is a PlantStoreError `storage_unavailable`. If the function returns a
 * value that is not a Caller, the server reports a TypeError in the same way.
 * @example
 * const authenticate: Authenticate = (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null);
 */
export type Authenticate = (token: string) => Caller | null | undefined | PromiseLike<Caller | null | undefined>;
