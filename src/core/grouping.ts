import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';

/**
 * Runs work in the async context in which this module was loaded. Work for several requests must not run in the async
 * context of one of them.
 */
export const runInNeutralContext: <Result>(work: () => Result) => Result = AsyncLocalStorage.snapshot();

/** Counts the requests of each event loop iteration, to detect whether only one client sends requests. */
export class Arrivals {
  #count = 0;
  #isCrowded = true;

  /** Returns whether the request is the first in its iteration, and the last iteration with requests had only one. */
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
