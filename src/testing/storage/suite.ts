import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { checkAdapter } from '../../core/storage-adapter.ts';
import type { StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { ContractError, shown } from './expect.ts';
import type { StorageAdapterTestOptions, StorageLocation } from './options.ts';
import { idOf } from './plants.ts';
import { TestedAdapter, Watchdog } from './tested-adapter.ts';

/** Thrown to skip a test. The message is the reason. */
class Skip extends Error {}

export class Suite {
  readonly options: StorageAdapterTestOptions;
  readonly watchdog: Watchdog;
  /** The number of adapters that the tests have opened so far. */
  opened = 0;

  constructor(options: StorageAdapterTestOptions) {
    this.options = options;
    this.watchdog = new Watchdog(options.timeoutMs ?? 30_000);
  }

  test(title: string, body: (session: Session, t: TestContext) => Promise<unknown>): void {
    it(title, async (t) => {
      const error = await this.errorOf((session) => body(session, t));
      if (error instanceof Skip) t.skip(error.message);
      else if (error !== undefined) throw error;
    });
  }

  /** Calls a function that opens adapters, and then closes them. Returns the first error, if any. */
  async errorOf(body: (session: Session) => Promise<unknown>): Promise<Error | undefined> {
    const session = new Session(this);
    const outcomes = await Promise.allSettled([body(session)]);
    outcomes.push(...(await Promise.allSettled([session.closeAll()])));
    return outcomes.find((outcome) => outcome.status === 'rejected')?.reason as Error | undefined;
  }
}

export class Session {
  readonly #suite: Suite;
  readonly #cleanUps: (() => Promise<void> | void)[] = [];
  readonly #open: TestedAdapter[] = [];

  constructor(suite: Suite) {
    this.#suite = suite;
  }

  createLocation(): Promise<StorageLocation> {
    const { options, watchdog } = this.#suite;
    const context = { after: (cleanUp: () => Promise<void> | void) => void this.#cleanUps.push(cleanUp) };
    return watchdog.settle('createLocation', () => options.createLocation(context));
  }

  /** By default at a new location. */
  async open(given?: StorageLocation): Promise<TestedAdapter> {
    const location = given ?? (await this.createLocation());
    return this.#add('open', () => location.open());
  }

  /** Opens one adapter or, if adapters share their plants, two adapters at the same location. */
  async openAll(location: StorageLocation): Promise<[TestedAdapter, ...TestedAdapter[]]> {
    const first = await this.open(location);
    return this.#suite.options.persistent ? [first, await this.open(location)] : [first];
  }

  /** Opens an adapter with `reopen`. Skips the test if there is no such function. */
  async reopen(location: StorageLocation): Promise<TestedAdapter> {
    const storage = await this.#add('reopen', () => {
      if (location.reopen === undefined) throw new Skip('The location has no reopen.');
      return location.reopen();
    });
    // Some adapters do not read their data before one of their methods is called.
    await storage.list('ada', { after: undefined, limit: 1 });
    return storage;
  }

  /** Makes the storage fail at a write. Skips the test if that is not possible. */
  async makeWriteFail(location: StorageLocation, write: Write): Promise<void> {
    const { options, watchdog } = this.#suite;
    if (options.makeWriteFail === undefined) throw new Skip('The option makeWriteFail is missing.');
    const faulty = { kind: write.kind, user: write.user, id: idOf(write) };
    await watchdog.settle('makeWriteFail', () => options.makeWriteFail?.(location, faulty));
  }

  async closeAll(): Promise<void> {
    for (const storage of this.#open.reverse()) await storage.close();
    for (const cleanUp of this.#cleanUps.reverse()) await this.#suite.watchdog.settle('a clean-up', cleanUp);
  }

  async #add(method: string, open: () => StorageAdapter | Promise<StorageAdapter>): Promise<TestedAdapter> {
    try {
      const opened = await this.#suite.watchdog.settle(method, open);
      checkAdapter(`The result of ${method}`, opened);
      const storage = new TestedAdapter(opened, this.#suite.watchdog);
      this.#open.push(storage);
      this.#suite.opened++;
      return storage;
    } catch (error) {
      if (error instanceof Skip) throw error;
      const rule = 'It must be possible to open a location again, and to open several adapters at the same time.';
      throw new ContractError(`${rule} ${method} failed with ${shown(error)}.`, { cause: error });
    }
  }
}
