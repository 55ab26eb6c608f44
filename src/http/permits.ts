/**
 * Limits the number of requests in progress and shares the permits fairly: a user gets another permit only if the user
 * holds fewer permits than are still free. One user can therefore hold half of the permits, and each of two users a
 * third. This algorithm is known as dynamic thresholds (Choudhury and Hahne, 1998).
 */
export class Permits {
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(max: number) {
    this.#free = max;
  }

  take(user: string): boolean {
    const held = this.#held.get(user) ?? 0;
    if (held >= this.#free) return false;
    this.#held.set(user, held + 1);
    this.#free--;
    return true;
  }

  release(user: string): void {
    const held = this.#held.get(user) ?? 0;
    if (held > 1) this.#held.set(user, held - 1);
    else this.#held.delete(user);
    this.#free++;
  }
}
