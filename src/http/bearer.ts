import type { Caller, Scope } from '../core/model/caller.ts';
import type { HeaderList } from './answer.ts';
import { HttpError } from './http-error.ts';
import type { ServiceRequest } from './service-request.ts';

/** Matches bearer credentials (RFC 6750 §2.1): the scheme in any letter case, one or more spaces, and a b64token. */
const bearerCredentials = /^bearer +([\w\-.~+/]+=*)$/i;

/**
 * Returns the bearer token of a request. The token is read only from the `Authorization` header, never from the query
 * or the body. A repeated header is always invalid, because its values are joined by commas, and a b64token cannot
 * contain a comma.
 *
 * @throws {HttpError} `missing_credentials` if the header is missing or uses another scheme; `invalid_token` if the
 *   token is malformed or the header was sent twice.
 */
export function bearerToken(request: ServiceRequest): string {
  const authorization = request.header('authorization') ?? '';
  const token = bearerCredentials.exec(authorization)?.[1];
  if (token !== undefined) return token;
  throw new HttpError(/^bearer\b/i.test(authorization) ? 'invalid_token' : 'missing_credentials');
}

/**
 * Checks that a caller has a scope.
 *
 * @throws {HttpError} `insufficient_scope` if the caller does not have the scope.
 */
export function checkScope(caller: Caller, scope: Scope): void {
  if (caller.scopes !== undefined && !caller.scopes.includes(scope)) throw new HttpError('insufficient_scope');
}

/**
 * Returns the `WWW-Authenticate` header for an authentication error (RFC 6750 §3), or an empty list for any other
 * error.
 */
export function challenge(error: unknown, scope: Scope | undefined): HeaderList {
  if (!(error instanceof HttpError)) return [];
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
