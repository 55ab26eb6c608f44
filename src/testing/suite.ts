import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { Deadline } from './deadline.ts';
import type { LocationContext, StorageAdapterTestOptions } from './options.ts';
import { Place } from './place.ts';

/** After this many calls that did not settle in time, all further tests are skipped. */
const maxMissed = 3;

/** Registers the tests of one adapter. */
export class Suite {
  readonly options: StorageAdapterTestOptions;
  readonly #deadline: Deadline;

  constructor(options: StorageAdapterTestOptions) {
    this.options = options;
    this.#deadline = new Deadline(options.timeoutMs ?? 10_000);
  }

  test(title: string, body: (place: Place, t: TestContext) => Promise<void>): void {
    it(title, async (t) => {
      if (this.#deadline.missed >= maxMissed) t.skip(`${maxMissed} calls did not settle in time.`);
      else await this.at((place) => body(place, t));
    });
  }

  /** Creates a place, and removes it when the function has settled. */
  async at<T>(body: (place: Place) => Promise<T>): Promise<T> {
    const cleanUps: Parameters<LocationContext['after']>[0][] = [];
    const context = { after: (cleanUp: () => Promise<void> | void) => void cleanUps.push(cleanUp) };
    const location = await this.#deadline.call('createLocation()', () => this.options.createLocation(context));
    const place = new Place(this.options, this.#deadline, location);
    const [result] = await Promise.allSettled([body(place)]);
    const [closed] = await Promise.allSettled([place.close()]);
    for (const cleanUp of cleanUps) await this.#deadline.call('a function passed to t.after()', cleanUp);
    if (result.status === 'rejected') throw result.reason;
    if (closed.status === 'rejected') throw closed.reason;
    return result.value;
  }
}
