import { clearTimeout, setTimeout } from 'node:timers';
import { CheckedAdapter } from './checked-adapter.ts';
import type { Call } from './checked-adapter.ts';
import { CallError } from './expect.ts';
import type { LocationContext, StorageAdapterTestOptions, StorageLocation } from './options.ts';

type OptionalFunction = 'makeWriteFail' | 'damagePlant' | 'startProcess';
/** Tests by their titles. Each test receives its own place. */
export type Tests = Readonly<Record<string, (place: Place) => Promise<void>>>;

/** Thrown to skip a test. The message is the reason. */
export class Skip extends Error {}

/** The location of one test, and the adapters that the test opens there. */
export class Place {
  readonly shared: StorageAdapterTestOptions['shared'];
  readonly #options: StorageAdapterTestOptions;
  readonly #timeoutMs: number;
  #location = {} as StorageLocation;
  readonly #adapters: CheckedAdapter[] = [];

  constructor(options: StorageAdapterTestOptions) {
    this.shared = options.shared;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
  }

  async create(t: LocationContext): Promise<void> {
    this.#location = await this.call('createLocation()', async () => this.#options.createLocation(t));
  }

  /** Whether an adapter can find the plants of an earlier one that did not close in an orderly way. */
  get canReopen(): boolean {
    return this.shared === 'exclusive' || (this.shared && this.#location.reopen !== undefined);
  }

  async open(method: 'open' | 'reopen' = 'open'): Promise<CheckedAdapter> {
    if (this.shared === 'exclusive') await this.close();
    const opening = this.call(`${method}()`, async () => this.#location[method]?.() ?? this.#location.open());
    const adapter = new CheckedAdapter(await opening, this.call);
    this.#adapters.push(adapter);
    return adapter;
  }

  /** Opens one adapter or, if several can share their plants, two. */
  async openAll(): Promise<[CheckedAdapter, ...CheckedAdapter[]]> {
    return this.shared === true ? [await this.open(), await this.open()] : [await this.open()];
  }

  has(option: OptionalFunction): boolean {
    return this.#options[option] !== undefined;
  }

  /** Calls a function of the options with the location. If it is missing, skips the test. */
  use<T>(option: OptionalFunction, ...values: readonly unknown[]): Promise<T> {
    const call = this.#options[option as never] as ((...all: unknown[]) => T) | undefined;
    if (call === undefined) throw new Skip(`The option ${option} is missing.`);
    return this.call(`${option}()`, async () => call(this.#location, ...values));
  }

  /** Performs a call, which must return a promise that settles within `timeoutMs`. */
  readonly call: Call = (text, start) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`${text} did not settle within ${this.#timeoutMs} ms.`));
      }, this.#timeoutMs);
    });
    return Promise.race([perform(text, start), late]).finally(() => {
      clearTimeout(timer);
    });
  };

  async close(): Promise<void> {
    await Promise.all(this.#adapters.splice(0).map((adapter) => adapter.close()));
  }
}

async function perform<T>(text: string, start: () => Promise<T>): Promise<T> {
  let rule = 'threw an error instead of returning a promise';
  try {
    const promise = start();
    rule = 'rejected';
    return await promise;
  } catch (error) {
    throw new CallError(`${text} ${rule}: ${String(error)}`, error, rule === 'rejected');
  }
}
