import { errorTable, PlantStoreError } from '../core/model/errors.ts';
import { isUser } from '../core/model/user.ts';
import type { Authenticate, Caller } from '../core/model/caller.ts';
import { HttpError } from './http-error.ts';

/** The default time within which a promise from `authenticate` must settle. */
const defaultTimeoutMs = 10_000;

/** Calls `authenticate` and checks its result. If the result is a promise, it must settle within 10 seconds. */
export class CallerLookup {
  readonly #authenticate: Authenticate;
  readonly #timeoutMs: number;

  constructor(authenticate: Authenticate, timeoutMs: number = defaultTimeoutMs) {
    this.#authenticate = authenticate;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns the caller that a token identifies.
   *
   * @throws {HttpError} `invalid_token` if the token does not identify a caller.
   * @throws {TypeError} if `authenticate` returns something other than a Caller.
   * @throws {Error} if `authenticate` does not settle in time.
   * @throws any error that `authenticate` throws. A PlantStoreError becomes the `cause` of an HttpError `internal`,
   *   unless its code is `storage_unavailable`.
   */
  find(token: string): Caller | Promise<Caller> {
    try {
      const result = this.#authenticate(token);
      if (!isPromiseLike(result)) return checkedCaller(result);
      return this.#settled(result).then(checkedCaller, (error: unknown) => {
        throw asInternalError(error);
      });
    } catch (error) {
      throw asInternalError(error);
    }
  }

  async #settled<T>(result: PromiseLike<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Error(`authenticate did not settle within ${this.#timeoutMs} milliseconds`));
    }, this.#timeoutMs);
    try {
      return await Promise.race([result, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function';
}

/**
 * Replaces an error that would give the response the status of its code: `invalid_user`, for example, would blame the
 * client. The code `storage_unavailable` is kept, because clients can retry.
 */
function asInternalError(error: unknown): unknown {
  const isOurs = error instanceof PlantStoreError && error.code !== 'storage_unavailable';
  return isOurs ? new HttpError('internal', undefined, { cause: error }) : error;
}

/** Checks the result of `authenticate`. It may be anything if the function is written in JavaScript. */
function checkedCaller(caller: unknown): Caller {
  // For example, `map.get(token)` returns undefined.
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
