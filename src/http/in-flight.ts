import { PlantStoreError } from '../model/errors.ts';
import { UserTotals } from './user-totals.ts';

/** How much of `maxInFlight` the requests of one user may take up: the rest is for all others. */
const userShare = 3 / 4;

/** Counts the requests that the store is working on. */
export class InFlight {
  readonly #max: number;
  readonly #maxOfUser: number;
  readonly #requests = new UserTotals();

  constructor(maxInFlight: number) {
    this.#max = maxInFlight;
    this.#maxOfUser = Math.ceil(maxInFlight * userShare);
  }

  /** @throws {PlantStoreError} `saturated` */
  begin(user: string): void {
    const { all } = this.#requests;
    if (all >= this.#max || (all >= this.#maxOfUser && this.#requests.of(user) >= this.#maxOfUser)) {
      throw new PlantStoreError('saturated');
    }
    this.#requests.add(user, 1);
  }

  /** Counts a request no longer. */
  end(user: string): void {
    this.#requests.add(user, -1);
  }
}
