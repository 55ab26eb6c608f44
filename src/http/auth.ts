import { clearTimeout, setTimeout } from 'node:timers';
import type { Authenticate, Caller, Scope } from '../boundary/caller.ts';
import { unknownMember } from '../boundary/options.ts';
import { errorTable } from '../core/model/errors.ts';
import type { ErrorCode } from '../core/model/errors.ts';
import { isUser } from '../core/model/plant.ts';
import { HttpError } from './exchange.ts';
import type { HeaderFields, ServiceRequest } from './exchange.ts';

/** Matches bearer credentials (RFC 6750 §2.1): the scheme in any letter case, one or more spaces, and a b64token. */
const bearerCredentials = /^bearer +([\w\-.~+/]+=*)$/i;

const timeoutMs = 10_000;

/**
 * Fails with `missing_credentials` or `invalid_token`. Any other error means that `authenticate` failed or returned an
 * invalid result. Returns a promise only if `authenticate` returns one.
 */
export function findCaller(
  authenticate: Authenticate<never>,
  request: ServiceRequest,
  path: string,
): Caller | Promise<Caller> {
  const authorization = request.header('authorization') ?? '';
  const token = bearerCredentials.exec(authorization)?.[1];
  if (token === undefined) {
    throw new HttpError(/^bearer(?:\s|$)/i.test(authorization) ? 'invalid_token' : 'missing_credentials');
  }
  const header = (name: string): string | undefined => request.header(name.toLowerCase());
  const result = authenticate(token, { method: request.method, path, header, raw: request.raw as never });
  return isPromiseLike(result) ? inTime(result).then(checkedCaller) : checkedCaller(result);
}

/** Unlike `instanceof Promise`, recognizes a promise of another realm, and one whose class a library has replaced. */
function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function';
}

function inTime<T>(result: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`authenticate did not settle within ${timeoutMs} milliseconds`));
    }, timeoutMs);
    void Promise.resolve(result)
      .finally(() => {
        clearTimeout(timer);
      })
      .then(resolve, reject);
  });
}

const callerMembers = ['user', 'scopes', 'tokenId'];

/**
 * Rejects unknown members, because a misspelled `scopes` would otherwise grant all scopes. Inherited members are
 * checked too; getters and methods of a class are not. Reads each member once.
 */
function checkedCaller(result: unknown): Caller {
  if (result === null || result === undefined) throw new HttpError('invalid_token');
  if (typeof result !== 'object') throw wrongResult(`a ${typeof result}, not a Caller or null`);
  const unknown = unknownMember(result, callerMembers);
  if (unknown !== undefined) {
    throw wrongResult(`a Caller with the unknown member ${unknown}. Its members are ${callerMembers.join(', ')}`);
  }
  const { user, scopes, tokenId } = result as Readonly<Record<string, unknown>>;
  if (!isUser(user)) throw wrongResult(`an invalid user: ${errorTable.invalid_user.message}`);
  if (tokenId !== undefined && !isString(tokenId)) throw wrongResult('a Caller whose tokenId is not a string');
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every(isString))) {
    throw wrongResult('a Caller whose scopes are not an array of strings');
  }
  return { user, scopes, tokenId };
}

const isString = (value: unknown): value is string => typeof value === 'string';

const wrongResult = (result: string): TypeError => new TypeError(`authenticate returned ${result}`);

/** Returns the `WWW-Authenticate` header for an authentication error (RFC 6750 §3). */
export function challenge(code: ErrorCode, scope: Scope | undefined): HeaderFields {
  const realm = 'Bearer realm="plants"';
  if (code === 'missing_credentials') return { 'WWW-Authenticate': realm };
  if (code === 'invalid_token') return { 'WWW-Authenticate': `${realm}, error="invalid_token"` };
  if (code !== 'insufficient_scope') return {};
  return { 'WWW-Authenticate': `${realm}, error="insufficient_scope", scope="${scope ?? ''}"` };
}
