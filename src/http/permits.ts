/**
 * Limits the number of permits in use and shares the permits fairly. A holder gets another permit only if it holds
 * fewer permits than are still free. A single holder can therefore hold half of the permits. As permits are released
 * and taken, the shares of N busy holders become equal, and a share of the same size remains free. With two busy
 * holders, each share is a third. This algorithm is known as dynamic thresholds (Choudhury and Hahne, 1998).
 */
export class Permits<Holder> {
  readonly #max: number;
  readonly #held = new Map<Holder, number>();
  #all = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a permit for a holder. Returns `false` if the holder cannot get another permit now. */
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
