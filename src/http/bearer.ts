import type { Caller, Scope } from '../model/caller.ts';
import { PlantStoreError } from '../model/errors.ts';
import type { HeaderList } from './answer.ts';
import type { ServiceRequest } from './service-request.ts';

/** Credentials of RFC 6750 §2.1: the scheme in any case, one or more spaces, a b64token. */
const bearerCredentials = /^bearer +([\w\-.~+/]+=*)$/i;

/**
 * The bearer token of a request. Only the Authorization header counts, never query or body. Two such headers are
 * joined by a comma, which is not part of a b64token.
 *
 * @throws {PlantStoreError} `missing_credentials` if there is none or it is of another scheme, `invalid_token` if it
 *   is malformed or there are two.
 */
export function bearerToken(request: ServiceRequest): string {
  const authorization = request.header('authorization') ?? '';
  const token = bearerCredentials.exec(authorization)?.[1];
  if (token !== undefined) return token;
  throw new PlantStoreError(/^bearer\b/i.test(authorization) ? 'invalid_token' : 'missing_credentials');
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
