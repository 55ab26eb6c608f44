import { PlantStoreError } from '../model/errors.ts';
import { UserTotals } from './user-totals.ts';

/** The share of `maxInFlight` that one user may use. The rest is reserved for other users. */
const userShare = 3 / 4;

/** Counts and limits the requests that the store is processing. */
export class InFlight {
  readonly #max: number;
  readonly #maxOfUser: number;
  readonly #requests = new UserTotals();

  constructor(maxInFlight: number) {
    this.#max = maxInFlight;
    this.#maxOfUser = Math.ceil(maxInFlight * userShare);
  }

  /**
   * Adds a request to the count.
   *
   * @throws {PlantStoreError} `saturated` if too many requests are in progress.
   */
  begin(user: string): void {
    const { all } = this.#requests;
    if (all >= this.#max || (all >= this.#maxOfUser && this.#requests.of(user) >= this.#maxOfUser)) {
      throw new PlantStoreError('saturated');
    }
    this.#requests.add(user, 1);
  }

  /** Removes a finished request from the count. */
  end(user: string): void {
    this.#requests.add(user, -1);
  }
}
