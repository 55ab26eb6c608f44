import { it } from 'node:test';
import type { TestContext } from 'node:test';
import type { StorageAdapter } from '../../core/storage-adapter.ts';
import type { StorageAdapterTestOptions, StorageLocation } from './options.ts';

const defaultTimeoutMs = 60_000;

/** Opens the adapters of one test, which are closed after the test. */
export class Session {
  readonly #options: StorageAdapterTestOptions;
  readonly #t: TestContext;
  readonly #open: StorageAdapter[] = [];

  constructor(options: StorageAdapterTestOptions, t: TestContext) {
    this.#options = options;
    this.#t = t;
  }

  async createLocation(): Promise<StorageLocation> {
    return this.#options.createLocation(this.#t);
  }

  async open(location: StorageLocation): Promise<StorageAdapter> {
    const storage = await location.open();
    this.#open.push(storage);
    return storage;
  }

  /** Opens one adapter or, if adapters share their plants, two adapters at the same location. */
  async openAll(location: StorageLocation): Promise<[StorageAdapter, ...StorageAdapter[]]> {
    const first = await this.open(location);
    return this.#options.shared ? [first, await this.open(location)] : [first];
  }

  /** Returns `undefined` if the location has no `reopen`. */
  async reopen(location: StorageLocation): Promise<StorageAdapter | undefined> {
    const storage = await location.reopen?.();
    if (storage !== undefined) this.#open.push(storage);
    return storage;
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled(this.#open.map((storage) => storage.close()));
  }
}

export function test(
  options: StorageAdapterTestOptions,
  title: string,
  body: (session: Session, t: TestContext) => Promise<unknown>,
): void {
  const { timeoutMs: timeout = defaultTimeoutMs } = options;
  it(title, { timeout }, async (t) => {
    const session = new Session(options, t);
    // The adapters are closed before their location is removed.
    t.after(() => session.closeAll(), { timeout });
    // If a call never settles, the process must not end before the timeout.
    const timer = setInterval(() => undefined, 1000);
    t.after(() => {
      clearInterval(timer);
    });
    await body(session, t);
  });
}
