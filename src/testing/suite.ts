import { describe, it } from 'node:test';
import { checkFunctionOption, checkOptionNames } from '../model/options.ts';
import { innermost } from './expect.ts';
import { Patience, watched } from './watched-adapter.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';

/** Where one test keeps its plants: a folder, a schema, nothing at all. */
export interface StorageLocation {
  /** Opens an adapter on this location. The suite closes what it opened. */
  open(): StorageAdapter | Promise<StorageAdapter>;
}

/** What `createLocation` receives. A `TestContext` of node:test has it too, so helpers can serve both. */
export interface LocationContext {
  /** Registers a clean-up, run after the test and after its adapters are closed; the last one registered runs first. */
  readonly after: (cleanUp: () => unknown) => void;
}

/** Registers one test. The third argument is how long it may take, in milliseconds; a runner may ignore it. */
export interface RegisterTest {
  (name: string, body: () => Promise<void>, timeoutMs?: number): unknown;
  /** Registers a test that is not run. Without it the suite registers an empty test of the same name. */
  skip?: ((name: string, body: () => Promise<void>) => unknown) | undefined;
}

/** The two functions of a test runner that the suite calls. Those of node:test and Vitest fit as they are. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it: RegisterTest;
}

/** The write that a fault is for: it has this kind, user and id. */
export interface FaultyWrite {
  readonly kind: 'create' | 'delete';
  readonly user: string;
  readonly id: bigint;
}

/** What the suite has to know of an adapter. */
export interface StorageAdapterTestOptions<Location extends StorageLocation = StorageLocation> {
  /** Makes an empty location for one test; register what removes it with `t.after`. */
  createLocation: (t: LocationContext) => Location | Promise<Location>;
  /**
   * `true` if all adapters that are opened on one location contain the same plants, at once and one
   * after the other; `false` if each begins empty. The suite checks either promise.
   */
  persistent: boolean;
  /**
   * Makes the storage fail, from now on, while it applies this write; every other write still
   * succeeds. Use a fault of the storage itself, such as a trigger that raises an error, not a check
   * in the adapter: the suite then proves that a batch is all or nothing. Without this option the
   * suite reports the proof as skipped.
   */
  makeWriteFail?(location: Location, write: FaultyWrite): unknown;
  /**
   * Makes the storage unable to hold the plant of this create, from now on, as with a text that it
   * cannot encode; every other write still succeeds. The suite then proves that such a plant is
   * rejected with `invalid_plant` and does not fail its neighbours. Leave it out if the storage
   * can hold every plant: the suite then reports the proof as skipped.
   */
  makePlantUnstorable?(location: Location, write: FaultyWrite): unknown;
  /** The functions of the test runner; default those of node:test. */
  runner?: TestRunner | undefined;
  /** How long one call of the adapter, or of a function of these options, may take, in milliseconds; default 30000. */
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

/** What one test works with. */
export interface SuiteTest extends LocationContext {
  readonly createLocation: () => Promise<StorageLocation>;
  /** Opens an adapter on a location, or on a new one; it is closed after the test. */
  readonly open: (location?: StorageLocation) => Promise<StorageAdapter>;
  /** Waits for something that an adapter's author has written. */
  readonly settle: <T>(name: string, call: () => T | Promise<T>) => Promise<T>;
}

/** Registers the tests of one adapter. */
export interface Suite {
  readonly options: StorageAdapterTestOptions;
  readonly describe: (name: string, body: () => void) => void;
  readonly test: (name: string, body: (t: SuiteTest) => Promise<void>) => void;
  /** Registers a test that cannot be run, under a name that says why. */
  readonly skip: (name: string) => void;
  /** Prints once that the adapter lacks an optional method, so that some tests prove nothing. */
  readonly reportMissing: (method: string) => void;
}

/** A test may make this many calls that take as long as they may. */
const maxSlowCalls = 10;

/**
 * Makes the suite of one adapter, for any test runner.
 *
 * @throws {TypeError} for a wrong option, which it names.
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

/** Runs one test and its clean-ups; throws what failed first. */
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
