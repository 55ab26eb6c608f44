import { errorTable, PlantStoreError } from '../model/errors.ts';
import { isUser } from '../model/user.ts';
import type { Authenticate, Caller } from '../model/caller.ts';
import { HttpError } from './http-error.ts';

/** The default time within which a promise from `authenticate` must settle. */
const defaultTimeoutMs = 10_000;

/**
 * Calls `authenticate` and checks its result. If the result is a promise, it must settle within 10 seconds. At most
 * `maxPending` of these promises may be pending at once. This limits the resources that are in use while an identity
 * provider is slow.
 */
export class CallerLookup {
  readonly #authenticate: Authenticate;
  readonly #maxPending: number;
  readonly #timeoutMs: number;
  #pending = 0;

  constructor(authenticate: Authenticate, maxPending: number, timeoutMs: number = defaultTimeoutMs) {
    this.#authenticate = authenticate;
    this.#maxPending = maxPending;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns the caller that a token identifies.
   *
   * @throws {HttpError} `invalid_token` if the token does not identify a caller.
   * @throws {PlantStoreError} `saturated` if too many lookups are pending.
   * @throws {TypeError} if `authenticate` returns something other than a Caller.
   * @throws {Error} if `authenticate` does not settle in time. Errors that `authenticate` throws are rethrown.
   */
  async find(token: string): Promise<Caller> {
    if (this.#pending >= this.#maxPending) throw new PlantStoreError('saturated');
    const result = this.#authenticate(token);
    const caller = isPromiseLike(result) ? await this.#settled(result) : result;
    // An `authenticate` function written in JavaScript may also return undefined, for example the result of
    // `map.get(token)`.
    if (caller === null || caller === undefined) throw new HttpError('invalid_token');
    checkCaller(caller);
    return caller;
  }

  async #settled<T>(result: PromiseLike<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Error(`authenticate did not settle within ${this.#timeoutMs} milliseconds`));
    }, this.#timeoutMs);
    this.#pending++;
    try {
      return await Promise.race([result, late.promise]);
    } finally {
      this.#pending--;
      clearTimeout(timer);
    }
  }
}

function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function';
}

function checkCaller(caller: unknown): void {
  if (typeof caller !== 'object') {
    throw new TypeError(`authenticate must return a Caller or null, not a ${typeof caller}`);
  }
  const { user, scopes, tokenId } = caller as Readonly<Record<string, unknown>>;
  if (!isUser(user)) throw new TypeError(`authenticate returned an invalid user: ${errorTable.invalid_user.message}`);
  if (tokenId !== undefined && typeof tokenId !== 'string') {
    throw new TypeError('authenticate returned a Caller whose tokenId is not a string');
  }
  if (scopes === undefined || (Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string'))) return;
  throw new TypeError(
    "authenticate returned a Caller whose scopes are not an array of strings, such as ['plants:read']",
  );
}
