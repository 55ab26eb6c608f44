/**
 * Counts the requests of each event loop iteration, so that a client that is alone does not wait for the requests of
 * others.
 */
export class Arrivals {
  #count = 0;
  /** Whether the last iteration with requests had more than one request. */
  #isCrowded = true;

  /** Counts a request. Returns whether it is the first one, and the last iteration with requests had only one. */
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
