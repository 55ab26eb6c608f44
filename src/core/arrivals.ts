import { setImmediate } from 'node:timers';

/** Counts the requests of each event loop iteration, to recognize a client that is alone. */
export class Arrivals {
  #count = 0;
  #isCrowded = true;

  /** Returns whether this is the first request of its iteration, and the last iteration with requests had only one. */
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
