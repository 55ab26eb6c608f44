import type { IncomingMessage } from 'node:http';
import { PlantStoreError } from '../model/errors.ts';
import type { HeaderList } from './answer.ts';
import { countHeader } from './node/validation.ts';
import type { Scope } from './routes.ts';

/** Whom a bearer token stands for. */
export interface Caller {
  /** The user whose plants the caller has access to: 1 to 255 bytes of UTF-8. */
  readonly user: string;
  /** What the caller may do; without it, everything. Scopes of other services are ignored. */
  readonly scopes?: readonly Scope[];
}

/**
 * Returns the caller that a bearer token stands for, or `null` if the token is unknown, expired or revoked (401).
 * If it throws, rejects, or does not settle within 10 seconds, the client gets 500, or 503 for a PlantStoreError
 * `storage_unavailable`, and the error is reported to `onError`. A value that is not a Caller is reported in the same
 * way, as a TypeError.
 */
export type Authenticate = (token: string) => Caller | null | undefined | PromiseLike<Caller | null | undefined>;

/** Credentials of RFC 6750 §2.1: the scheme in any case, one or more spaces, a b64token. */
const bearerCredentials = /^bearer +([\w\-.~+/]+=*)$/i;

/**
 * The bearer token of a request. Only the Authorization header counts, never query or body.
 *
 * @throws {PlantStoreError} `missing_credentials` where there is none or it is of another scheme,
 *   `invalid_token` where it is malformed or there are two.
 */
export function bearerToken(request: IncomingMessage): string {
  const { authorization } = request.headers;
  const token = bearerCredentials.exec(authorization ?? '')?.[1];
  // node:http keeps the first of two Authorization headers and says nothing.
  if (token !== undefined && countHeader(request, 'authorization') === 1) return token;
  throw new PlantStoreError(/^bearer\b/i.test(authorization ?? '') ? 'invalid_token' : 'missing_credentials');
}

/** @throws {PlantStoreError} `insufficient_scope` */
export function checkScope(caller: Caller, scope: Scope): void {
  if (caller.scopes !== undefined && !caller.scopes.includes(scope)) throw new PlantStoreError('insufficient_scope');
}

/** The challenge that goes with a refusal, RFC 6750 §3; no header for other errors. */
export function challenge(error: unknown, scope: Scope | undefined): HeaderList {
  if (!(error instanceof PlantStoreError)) return [];
  const realm = 'Bearer realm="plants"';
  switch (error.code) {
    case 'missing_credentials':
      return ['WWW-Authenticate', realm];
    case 'invalid_token':
      return ['WWW-Authenticate', `${realm}, error="invalid_token"`];
    case 'insufficient_scope':
      return ['WWW-Authenticate', `${realm}, error="insufficient_scope", scope="${scope ?? ''}"`];
    default:
      return [];
  }
}
