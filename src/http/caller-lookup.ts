import { errorTable, isPlantStoreError } from '../core/model/errors.ts';
import { isUser } from '../core/model/user.ts';
import type { Authenticate, Caller } from '../core/model/caller.ts';
import { HttpError } from './http-error.ts';

/** The time in milliseconds within which a promise from `authenticate` must settle. */
const timeoutMs = 10_000;

/**
 * Calls `authenticate` with a token and returns the caller that the token identifies.
 *
 * @throws {HttpError} `invalid_token` if the token does not identify a caller.
 * @throws {TypeError} if `authenticate` returns something other than a Caller.
 * @throws {Error} if `authenticate` does not settle within 10 seconds.
 * @throws any error that `authenticate` throws. A PlantStoreError becomes the `cause` of an `internal` HttpError,
 *   unless its code is `storage_unavailable`.
 */
export function findCaller(authenticate: Authenticate, token: string): Caller | Promise<Caller> {
  try {
    const result = authenticate(token);
    return isPromiseLike(result) ? awaitCaller(result) : checkedCaller(result);
  } catch (error) {
    throw asInternalError(error);
  }
}

async function awaitCaller(result: PromiseLike<unknown>): Promise<Caller> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Error(`authenticate did not settle within ${timeoutMs} milliseconds`));
  }, timeoutMs);
  try {
    return checkedCaller(await Promise.race([result, late.promise]));
  } catch (error) {
    throw asInternalError(error);
  } finally {
    clearTimeout(timer);
  }
}

function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function';
}

/**
 * Wraps a PlantStoreError from `authenticate` in an `internal` error. Otherwise, the response would have the status of
 * the PlantStoreError's code, such as 400 for `invalid_user`, although the request is valid. An error with the code
 * `storage_unavailable` is not wrapped, because clients can retry. Returns any other error unchanged.
 */
function asInternalError(error: unknown): unknown {
  const isOurs = isPlantStoreError(error) && error.code !== 'storage_unavailable';
  return isOurs ? new HttpError('internal', undefined, { cause: error }) : error;
}

/** Checks the result of `authenticate`, which can be anything if the function is written in JavaScript. */
function checkedCaller(caller: unknown): Caller {
  // For example, `map.get(token)` returns undefined for an unknown token.
  if (caller === null || caller === undefined) throw new HttpError('invalid_token');
  if (typeof caller !== 'object') {
    throw new TypeError(`authenticate must return a Caller or null, not a ${typeof caller}`);
  }
  const { user, scopes, tokenId } = caller as Readonly<Record<string, unknown>>;
  if (!isUser(user)) throw new TypeError(`authenticate returned an invalid user: ${errorTable.invalid_user.message}`);
  if (tokenId !== undefined && typeof tokenId !== 'string') {
    throw new TypeError('authenticate returned a Caller whose tokenId is not a string');
  }
  if (scopes === undefined || (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'))) {
    return caller as Caller;
  }
  throw new TypeError(
    "authenticate returned a Caller whose scopes are not an array of strings, such as ['plants:read']",
  );
}
