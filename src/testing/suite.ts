import { describe, it } from 'node:test';
import { checkFunctionOption, checkOptionNames } from '../model/options.ts';
import { innermost } from './expect.ts';
import { Patience, watched } from './watched-adapter.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';

/** Where one test stores its plants: a folder, a schema, or nothing if the adapter stores them in memory. */
export interface StorageLocation {
  /** Opens an adapter on this location. The suite closes the adapter. */
  open(): StorageAdapter | Promise<StorageAdapter>;
}

/** The argument of `createLocation`. A node:test `TestContext` has the same method, so helpers can accept both. */
export interface LocationContext {
  /** Registers a clean-up. Clean-ups run after the test's adapters are closed, the last one registered first. */
  readonly after: (cleanUp: () => unknown) => void;
}

/** Registers one test. The third argument is the test's timeout in milliseconds; a runner may ignore it. */
export interface RegisterTest {
  (name: string, body: () => Promise<void>, timeoutMs?: number): unknown;
  /** Registers a test that is not run. If `skip` is missing, the suite registers an empty test of the same name. */
  skip?: ((name: string, body: () => Promise<void>) => unknown) | undefined;
}

/** The two functions of a test runner that the suite calls. Those of node:test and Vitest need no adaptation. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it: RegisterTest;
}

/** Identifies the write that must fail, by its kind, user and id. */
export interface FaultyWrite {
  readonly kind: 'create' | 'delete';
  readonly user: string;
  readonly id: bigint;
}

/** Options of `testStorageAdapter`, which describe the adapter. */
export interface StorageAdapterTestOptions<Location extends StorageLocation = StorageLocation> {
  /** Creates an empty location for one test. Use `t.after` to register a function that removes it. */
  createLocation: (t: LocationContext) => Location | Promise<Location>;
  /**
   * `true` if all adapters on one location share the same plants, whether they are open at the same time or
   * one after another; `false` if each adapter begins empty. The suite tests that this is the case.
   */
  persistent: boolean;
  /**
   * Makes the storage fail from now on whenever it applies this write; every other write must still
   * succeed. With it, the suite tests that a batch is all or nothing. The error must come from the
   * storage itself, such as a trigger that raises an error, not from a check in the adapter. Without
   * this option, the suite reports these tests as skipped.
   */
  makeWriteFail?(location: Location, write: FaultyWrite): unknown;
  /**
   * Makes the storage unable, from now on, to hold the plant that this create contains, as if a string of
   * the plant could not be encoded. Every other write must still succeed. The suite then tests that such a
   * plant is rejected with `invalid_plant` and that the other writes in its batch succeed. Omit this
   * function if the storage can hold every plant: the suite then reports these tests as skipped.
   */
  makePlantUnstorable?(location: Location, write: FaultyWrite): unknown;
  /** The functions of the test runner; by default those of node:test. */
  runner?: TestRunner | undefined;
  /** How long one call to the adapter or to a function in these options may take, in milliseconds; default 30000. */
  timeoutMs?: number | undefined;
}

const optionNames = {
  createLocation: true,
  persistent: true,
  makeWriteFail: true,
  makePlantUnstorable: true,
  runner: true,
  timeoutMs: true,
} as const satisfies Record<keyof StorageAdapterTestOptions, true>;

/** The functions that one test can use. */
export interface SuiteTest extends LocationContext {
  readonly createLocation: () => Promise<StorageLocation>;
  /** Opens an adapter on the given location, by default a new one. The adapter is closed after the test. */
  readonly open: (location?: StorageLocation) => Promise<StorageAdapter>;
  /** Calls a function that the adapter's author has written, and waits for its result, up to `timeoutMs`. */
  readonly settle: <T>(name: string, call: () => T | Promise<T>) => Promise<T>;
}

/** Registers the tests for one adapter. */
export interface Suite {
  readonly options: StorageAdapterTestOptions;
  readonly describe: (name: string, body: () => void) => void;
  readonly test: (name: string, body: (t: SuiteTest) => Promise<void>) => void;
  /** Registers a test that cannot be run. The name states the reason. */
  readonly skip: (name: string) => void;
  /** Prints, once per method, that the adapter lacks an optional method and that its tests therefore prove nothing. */
  readonly reportMissing: (method: string) => void;
}

/** The timeout of a test, as a multiple of the timeout of a call. */
const maxSlowCalls = 10;

/**
 * Creates the suite of one adapter, for any test runner.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 */
export function makeSuite(name: string, options: StorageAdapterTestOptions): Suite {
  checkOptionNames('testStorageAdapter', options, optionNames);
  checkFunctionOption('createLocation', options.createLocation);
  const { runner = { describe, it }, timeoutMs = 30_000 } = options;
  const patience = new Patience(timeoutMs);
  const missing = new Set<string>();
  return {
    options,
    describe: (title, body) => void runner.describe(title, body),
    test: (title, body) => void runner.it(title, () => runTest(options, patience, body), timeoutMs * maxSlowCalls),
    skip: (title) => void (runner.it.skip ?? runner.it)(title, async () => undefined),
    reportMissing: (method) => {
      if (!missing.has(method)) console.info(`${name} has no ${method}: the tests of ${method} prove nothing.`);
      missing.add(method);
    },
  };
}

/** Runs one test and its clean-ups, even if some of them fail. Throws the first error. */
async function runTest(
  options: StorageAdapterTestOptions,
  patience: Patience,
  body: (t: SuiteTest) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const cleanUps: (() => Promise<unknown>)[] = [];
  const t: SuiteTest = {
    after: (cleanUp) => void cleanUps.push(() => patience.settle('a clean-up', cleanUp)),
    settle: (name, call) => patience.settle(name, call),
    createLocation: () => patience.settle('createLocation', () => options.createLocation(t)),
    open: async (given) => {
      const location = given ?? (await t.createLocation());
      const storage = watched(await patience.settle('open', () => location.open()), patience);
      let isClosed = false;
      cleanUps.push(async () => (isClosed ? undefined : storage.close()));
      return {
        ...storage,
        close: () => {
          isClosed = true;
          return storage.close();
        },
      };
    },
  };
  const attempt = (work: () => Promise<unknown>): Promise<unknown> =>
    work().catch((error: unknown) => failures.push(error));
  await attempt(() => body(t));
  for (const cleanUp of cleanUps.reverse()) await attempt(cleanUp);
  if (failures.length > 0) throw innermost(failures[0]);
}
