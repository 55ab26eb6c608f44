import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/** Runs work for several requests in the async context in which this module was loaded, normally that of no request. */
export const runInNeutralContext: <Result>(work: () => Result) => Result = AsyncLocalStorage.snapshot();

/** Counts the requests of each event loop iteration, to detect whether only one client sends requests. */
export class Arrivals {
  #count = 0;
  #isCrowded = true;

  /** Returns whether the request is alone: the first in its iteration, after an iteration with only one request. */
  add(): boolean {
    this.#count++;
    if (this.#count > 1) return false;
    setImmediate(() => {
      this.#isCrowded = this.#count > 1;
      this.#count = 0;
    });
    return !this.#isCrowded;
  }
}
