/** A permission that a token can grant. */
export type Scope = 'plants:read' | 'plants:write';

/** All scopes. */
export const scopes: readonly Scope[] = ['plants:read', 'plants:write'];

/** The caller that a bearer token identifies. */
export interface Caller {
  /** The user whose plants the caller has access to: 1 to 255 bytes of UTF-8. */
  readonly user: string;
  /** What the caller may do; by default everything. Scopes that belong to other services are ignored. */
  readonly scopes?: readonly Scope[];
}

/**
 * Returns the caller that a bearer token identifies, or `null` if the token is unknown, expired or revoked (401). If it
 * throws, rejects, or does not settle within 10 seconds, the server reports the error to `onError` and responds with
 * 500, or with 503 if the error is a PlantStoreError `storage_unavailable`. A value that is not a Caller is reported in
 * the same way, as a TypeError.
 * @example
 * const authenticate: Authenticate = (token) => (token === process.env.ADAS_TOKEN ? { user: 'ada' } : null);
 */
export type Authenticate = (token: string) => Caller | null | undefined | PromiseLike<Caller | null | undefined>;
