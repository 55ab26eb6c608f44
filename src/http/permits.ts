/**
 * Limits the number of permits in use, and shares them fairly: a holder gets another permit if it holds fewer permits
 * than are still free. One holder alone can therefore hold half of the permits. As permits are released and taken, the
 * shares of N busy holders become equal, and the same share remains free: with two holders, a third each (dynamic
 * thresholds, Choudhury and Hahne, 1998).
 */
export class Permits<Holder> {
  readonly #max: number;
  readonly #held = new Map<Holder, number>();
  #all = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a permit. Returns `false` if the holder may not have another permit now. */
  take(holder: Holder): boolean {
    const held = this.#held.get(holder) ?? 0;
    if (held >= this.#max - this.#all) return false;
    this.#held.set(holder, held + 1);
    this.#all++;
    return true;
  }

  /** Releases a permit of the holder. */
  release(holder: Holder): void {
    const held = this.#held.get(holder) ?? 0;
    if (held > 1) this.#held.set(holder, held - 1);
    else this.#held.delete(holder);
    this.#all--;
  }
}
