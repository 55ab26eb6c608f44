/** Keeps a total for each user and a total for all users together. */
export class UserTotals {
  readonly #maxOfUser: number;
  readonly #byUser = new Map<string, number>();
  #all = 0;

  /** Each user contributes at most `maxOfUser` to the total of all users. Default: no limit. */
  constructor(maxOfUser?: number) {
    this.#maxOfUser = maxOfUser ?? Infinity;
  }

  /** The total of all users. */
  get all(): number {
    return this.#all;
  }

  /** The total of one user. */
  of(user: string): number {
    return this.#byUser.get(user) ?? 0;
  }

  /** Adds an amount, which may be negative, to a user's total. */
  add(user: string, amount: number): void {
    const before = this.of(user);
    const now = before + amount;
    this.#all += Math.min(now, this.#maxOfUser) - Math.min(before, this.#maxOfUser);
    if (now === 0) this.#byUser.delete(user);
    else this.#byUser.set(user, now);
  }
}
