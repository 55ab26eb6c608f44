import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import type { TestContext } from 'node:test';
import { clearTimeout, setTimeout } from 'node:timers';
import { idOf } from '../core/storage-adapter.ts';
import type { StorageAdapter, Write } from '../core/storage-adapter.ts';
import { CheckedAdapter, Rejection, shown } from './checked-adapter.ts';
import type { Call } from './checked-adapter.ts';

/** The place where one test stores its plants, for example a folder or a schema. */
export interface StorageLocation {
  /** Opens an adapter at this location. The suite closes the adapter. */
  open(): StorageAdapter | Promise<StorageAdapter>;
  /**
   * Opens the storage again from its persistent data, as a new process does after a crash. If `shared` is `true`, other
   * adapters are still open and hold their locks, and the suite skips tests of durability if this method is missing.
   * The new adapter must not share anything in memory with the others, such as a database handle or a cache. The suite
   * does not use the others again, except to close them.
   */
  reopen?(): StorageAdapter | Promise<StorageAdapter>;
}

/** The argument of `createLocation`. A `TestContext` of node:test has the same method. */
export interface LocationContext {
  /** Registers a function that runs after the test's adapters have been closed. */
  readonly after: (cleanUp: () => Promise<void> | void) => void;
}

/** Identifies the write that must fail, for example `{ kind: 'create', user: 'ada', id: 13n }`. */
export type FaultyWrite = Readonly<{ kind: 'create' | 'delete'; user: string; id: bigint }>;

/** Options of `testStorageAdapter`. */
export interface StorageAdapterTestOptions<Location extends StorageLocation = StorageLocation> {
  /** Creates an empty location for one test. Call `t.after` to register a function that removes the location. */
  createLocation: (t: LocationContext) => Location | Promise<Location>;
  /**
   * `true` if all adapters with the same location share their plants, and several can be open at the same time;
   * `'exclusive'` if they share their plants, but only one can be open at a time; `false` if each adapter is empty when
   * it is opened.
   */
  shared: boolean | 'exclusive';
  /**
   * Makes the storage fail whenever it applies this write. All other writes must still succeed. The storage itself must
   * fail, for example through a database trigger. If a write can fail halfway, for example after half a line of a file,
   * make it fail halfway. Without this function, the suite does not test a failing storage.
   */
  makeWriteFail?(location: Location, write: FaultyWrite): unknown;
  /** Damages the stored record of a plant, which `list` and `scan` must then report as `storage_unsupported`. */
  damagePlant?(location: Location, user: string, id: bigint): unknown;
  /**
   * Starts a process that calls `commitUntilKilled`, for example with `fork` of node:child_process. The suite kills it.
   * Without this function, the suite does not test other processes.
   */
  startProcess?(location: Location): ChildProcess;
}

/** Tests by their titles. Each test receives its own place. */
export type Tests = Readonly<Record<string, (place: Place) => Promise<void>>>;

export type SuiteContext = Pick<TestContext, 'after' | 'diagnostic' | 'skip'>;

/** Thrown to skip a test. The message is the reason. */
export class Skip extends Error {}

/** The location of one test, and the adapters that the test opens there. */
export class Place {
  readonly options: StorageAdapterTestOptions;
  readonly #t: SuiteContext;
  readonly #callTimeoutMs: number;
  #location = {} as StorageLocation;
  readonly #adapters: CheckedAdapter[] = [];

  constructor(options: StorageAdapterTestOptions, t: SuiteContext, callTimeoutMs: number) {
    this.options = options;
    this.#t = t;
    this.#callTimeoutMs = callTimeoutMs;
  }

  async create(): Promise<void> {
    this.#location = await this.call('createLocation()', async () => this.options.createLocation(this.#t));
  }

  async close(): Promise<void> {
    await Promise.all(this.#adapters.map((adapter) => adapter.close()));
  }

  /** Whether `open('reopen')` reads the stored plants: after a close if exclusive, otherwise as after a crash. */
  get canReopen(): boolean {
    const { shared } = this.options;
    return shared === 'exclusive' || (shared && this.#location.reopen !== undefined);
  }

  async open(method: 'open' | 'reopen' = 'open'): Promise<CheckedAdapter> {
    if (this.options.shared === 'exclusive') await this.#adapters.pop()?.close();
    const opening = this.call(`${method}()`, async () => this.#location[method]?.() ?? this.#location.open());
    const adapter = new CheckedAdapter(await opening, this.call);
    this.#adapters.push(adapter);
    return adapter;
  }

  /** Opens one adapter or, if several can share their plants, two. */
  async openAll(): Promise<[CheckedAdapter, ...CheckedAdapter[]]> {
    return this.options.shared === true ? [await this.open(), await this.open()] : [await this.open()];
  }

  /** Calls a function of the options with the location. If it is missing, skips the test. */
  use<T>(option: 'makeWriteFail' | 'damagePlant' | 'startProcess', ...values: readonly unknown[]): Promise<T> {
    const call = this.options[option as never] as ((...all: unknown[]) => T) | undefined;
    if (call === undefined) throw new Skip(`The option ${option} is missing.`);
    return this.call(`${option}()`, async () => call(this.#location, ...values));
  }

  makeWriteFail(write: Write): Promise<unknown> {
    return this.use('makeWriteFail', { kind: write.kind, user: write.user, id: idOf(write) });
  }

  /**
   * Performs a call within the time limit. Unlike a timeout of node:test, the limit ends the loops of a test, and its
   * error names the call. The timer also keeps the process running while a call hangs.
   */
  readonly call: Call = async (text, start) => {
    let promise;
    try {
      promise = start();
    } catch (cause) {
      throw new Error(`${text} threw an error instead of returning a promise: ${String(cause)}`, { cause });
    }
    const isPromise = typeof (promise as Partial<typeof promise> | undefined)?.then === 'function';
    assert.ok(isPromise, `${text} must return a promise, not ${shown(promise)}.`);
    const named = Promise.resolve(promise).catch((cause: unknown) => {
      throw new Rejection(`${text} rejected: ${String(cause)}`, { cause });
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const message = `${text} did not settle within ${this.#callTimeoutMs / 1000} s.`;
        // If the process does not end after the tests, node:test prints diagnostics only, not errors.
        this.#t.diagnostic(message);
        reject(new Error(message));
      }, this.#callTimeoutMs);
    });
    return Promise.race([named, late]).finally(() => {
      clearTimeout(timer);
    });
  };
}
