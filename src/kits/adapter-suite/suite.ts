import { describe, it } from 'node:test';
import {
  checkBooleanOption,
  checkFunctionOption,
  checkIntegerOption,
  checkOptionNames,
} from '../../core/model/options.ts';
import { checkAdapter } from '../../core/storage-adapter.ts';
import { fail, shown } from './expect.ts';
import { CallTimeouts, explained, watched } from './watched-adapter.ts';
import type { StorageAdapter } from '../../core/storage-adapter.ts';

/**
 * The place where one test stores its plants, for example a folder or a schema. For an adapter that stores plants in
 * memory, only `open` is needed.
 */
export interface StorageLocation {
  /** Opens an adapter at this location. The suite closes the adapter. */
  open(): StorageAdapter | Promise<StorageAdapter>;
  /**
   * Opens the storage again from its persistent data, as a new process does after a crash. The new adapter must not
   * share anything in memory, such as a database handle or a cache, with the adapters that are open. The suite does not
   * use those adapters again, except to close them. If the storage can be open only once, `reopen` may therefore close
   * the handle that these adapters share.
   *
   * If `persistent` is `true`, the suite calls this method after failed commits, and after a commit during which
   * `close` was called. If the method is missing, the suite skips the tests that require it and reports these tests as
   * skipped.
   */
  reopen?(): StorageAdapter | Promise<StorageAdapter>;
}

/**
 * The argument of `createLocation`. A `TestContext` of node:test has the same method, so a helper function can accept
 * either of them.
 */
export interface LocationContext {
  /**
   * Registers a clean-up function. Clean-up functions run in reverse order of registration, after the test's adapters
   * are closed.
   */
  readonly after: (cleanUp: () => unknown) => void;
}

/**
 * Registers one test. The third argument is the timeout for the test in milliseconds. A test runner may ignore the
 * timeout.
 */
export interface RegisterTest {
  (name: string, body: () => Promise<void>, timeoutMs?: number): unknown;
  /**
   * Registers a test that is not run. If `skip` is missing, the suite registers an empty test with the same name
   * instead.
   */
  skip?: ((name: string, body: () => Promise<void>) => unknown) | undefined;
}

/** The test runner functions that the suite calls. The functions of node:test and of Vitest can be passed directly. */
export interface TestRunner {
  /** Registers a group of tests. `body` registers the tests of the group. */
  describe(name: string, body: () => void): unknown;
  /** Registers one test. */
  it: RegisterTest;
}

/**
 * Identifies the write that must fail, for example `{ kind: 'create', user: 'ada', id: 13n }`. A `Write` matches if it
 * has the same kind, user and id. A create write contains its id in `plant.id`, and a delete write in `id`.
 */
export interface FaultyWrite {
  /** The kind of the write. */
  readonly kind: 'create' | 'delete';
  /** The user of the plant. */
  readonly user: string;
  /** The id of the plant. */
  readonly id: bigint;
}

/** Options of `testStorageAdapter`, which describe the adapter. */
export interface StorageAdapterTestOptions<Location extends StorageLocation = StorageLocation> {
  /** Creates an empty location for one test. Call `t.after` to register a function that removes the location. */
  createLocation: (t: LocationContext) => Location | Promise<Location>;
  /**
   * `true` if all adapters with the same location share their plants, whether they are open at the same time or one
   * after the other; `false` if each adapter is empty when it is opened. The suite tests whether the adapters behave
   * accordingly. In both cases, the suite opens several adapters with the same location at the same time, so an adapter
   * must not lock the location while it is open.
   */
  persistent: boolean;
  /**
   * Changes the storage so that it fails whenever it applies this write. All other writes must still succeed. The suite
   * uses this function to test that a batch is all or nothing. The storage itself must report the error, for example
   * through a database trigger or a wrapped database handle; a check in the adapter is not sufficient. If a write to
   * the storage can fail halfway, for example after half a line of a file, this function must make the write fail
   * halfway. If this option is missing, the suite skips the tests that require it and reports these tests as skipped.
   */
  makeWriteFail?(location: Location, write: FaultyWrite): unknown;
  /**
   * Changes the storage so that it rejects the plant that this write creates, as if the storage could not encode the
   * plant's name. All other writes must still succeed. The suite uses this function to test that such a plant is
   * rejected with `invalid_plant`, and that the other writes in its batch succeed. Omit this option if the storage can
   * hold every plant; the suite then skips the tests that require it and reports these tests as skipped.
   */
  makePlantUnstorable?(location: Location, write: FaultyWrite): unknown;
  /** The functions of the test runner; by default `describe` and `it` of node:test. */
  runner?: TestRunner | undefined;
  /**
   * The timeout for one call to the adapter or to a function in these options, in milliseconds, 1 to 214748364; default
   * 30000.
   */
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

/** The functions that the body of a test can call. */
export interface SuiteTest extends LocationContext {
  readonly createLocation: () => Promise<StorageLocation>;
  /** Opens an adapter at the given location, or at a new location by default. The adapter is closed after the test. */
  readonly open: (location?: StorageLocation) => Promise<StorageAdapter>;
  /** Like `open`, but calls `reopen` of the location. If there is no such method, skips the test like `skipWithout`. */
  readonly reopen: (location: StorageLocation) => Promise<StorageAdapter>;
  /** Calls a function from the suite's options, and waits up to `timeoutMs` for its result. */
  readonly settle: <T>(name: string, call: () => T | Promise<T>) => Promise<T>;
  /**
   * Ends the test and reports it as skipped, because the adapter does not have this optional method. If the test runner
   * cannot skip a running test, the test passes, and the suite prints the reason once for each method.
   */
  readonly skipWithout: (method: string) => never;
}

/** Thrown to end a skipped test. */
class SkippedTest extends Error {
  override readonly name = 'SkippedTest';
}

/** The functions that register the tests for one adapter. */
export interface Suite {
  readonly options: StorageAdapterTestOptions;
  readonly describe: (name: string, body: () => void) => void;
  readonly test: (name: string, body: (t: SuiteTest) => Promise<void>) => void;
  /** Registers a test that cannot be run. The name contains the reason. */
  readonly skip: (name: string) => void;
}

/** The timeout for a test, as a multiple of `timeoutMs`, which is the timeout for one call. */
const maxSlowCalls = 10;

/** The maximum value of `timeoutMs`. The timeout for a test must not exceed the limit of Node.js timers. */
const maxTimeoutMs = Math.floor(2_147_483_647 / maxSlowCalls);

/**
 * Creates the functions that register the tests for one adapter, with any test runner.
 *
 * @throws {TypeError} if an option is invalid; the message names the option.
 */
export function makeSuite(name: string, options: StorageAdapterTestOptions): Suite {
  checkOptionNames('testStorageAdapter', options, optionNames);
  const { createLocation, persistent, runner = { describe, it }, timeoutMs = 30_000, ...functions } = options;
  checkFunctionOption('createLocation', createLocation);
  checkBooleanOption('persistent', persistent);
  for (const [option, value] of Object.entries<unknown>(functions)) {
    if (value !== undefined) checkFunctionOption(option, value);
  }
  checkRunner(runner);
  checkIntegerOption('timeoutMs', timeoutMs, 1, maxTimeoutMs);
  const timeouts = new CallTimeouts(timeoutMs);
  const printed = new Set<string>();
  const reportSkipped = (context: unknown, reason: string): void => {
    if (canSkip(context)) context.skip(reason);
    else if (!printed.has(reason)) {
      printed.add(reason);
      console.info(`${name} has tests that pass without testing anything: ${reason}`);
    }
  };
  return {
    options,
    describe: (title, body) => void runner.describe(title, body),
    // The function has no named parameter, because a test runner may pass a callback to a function that has one.
    test: (title, body) => {
      const run = async (...[context]: readonly unknown[]): Promise<void> => {
        const skipped = await runTest(options, timeouts, body);
        if (skipped !== undefined) reportSkipped(context, skipped.message);
      };
      runner.it(title, run, timeoutMs * maxSlowCalls);
    },
    skip: (title) => void (runner.it.skip ?? runner.it)(title, async () => undefined),
  };
}

function checkRunner(runner: Partial<TestRunner> | null): void {
  checkFunctionOption('runner.describe', runner?.describe);
  checkFunctionOption('runner.it', runner?.it);
  if (runner?.it?.skip !== undefined) checkFunctionOption('runner.it.skip', runner.it.skip);
}

function checkLocation(location: Partial<StorageLocation> | null | undefined): void {
  checkFunctionOption('open of a location', location?.open);
  if (location?.reopen !== undefined) checkFunctionOption('reopen of a location', location.reopen);
}

/** Returns whether the argument of a test function can skip the test. In Vitest, the argument is a function. */
function canSkip(context: unknown): context is { skip: (reason: string) => unknown } {
  return typeof (context as { skip?: unknown } | null | undefined)?.skip === 'function';
}

/**
 * Runs one test, and then all of its clean-up functions, even if some of them fail. Throws the first error, if any.
 * Returns the reason if the test was skipped.
 */
async function runTest(
  options: StorageAdapterTestOptions,
  timeouts: CallTimeouts,
  body: (t: SuiteTest) => Promise<void>,
): Promise<SkippedTest | undefined> {
  const failures: unknown[] = [];
  const openAdapters = new Map<StorageAdapter, StorageLocation>();
  const cleanUps: (() => Promise<unknown>)[] = [];
  const t: SuiteTest = {
    after: (cleanUp) => void cleanUps.push(() => timeouts.settle('a clean-up', cleanUp)),
    settle: (name, call) => timeouts.settle(name, call),
    skipWithout: (method) => {
      throw new SkippedTest(`The adapter does not have the optional method ${method}.`);
    },
    createLocation: async () => {
      const location = await timeouts.settle('createLocation', () => options.createLocation(t));
      checkLocation(location);
      return location;
    },
    open: async (given) => {
      const location = given ?? (await t.createLocation());
      const opened = await timeouts
        .settle('open', () => location.open())
        .catch((error: unknown) => {
          if (![...openAdapters.values()].includes(location)) throw error;
          const contract = 'It must be possible to open several adapters with one location at the same time.';
          return fail(`open failed with ${shown(error)} while another adapter was open. ${contract}`, error);
        });
      return add(location, 'open', opened);
    },
    reopen: async (location) => {
      const call = location.reopen?.bind(location);
      if (call === undefined) throw new SkippedTest('The location does not have the optional method reopen.');
      try {
        const storage = add(location, 'reopen', await timeouts.settle('reopen', call));
        // Some adapters do not read their storage before one of their methods is called.
        await storage.list('ada', { after: undefined, limit: 1 });
        return storage;
      } catch (error) {
        return fail(`The storage could not be opened again: ${shown(error)}.`, error);
      }
    },
  };
  const add = (location: StorageLocation, method: string, opened: StorageAdapter): StorageAdapter => {
    checkAdapter(`The result of ${method}`, opened);
    const storage = watched(opened, timeouts);
    openAdapters.set(storage, location);
    const close = (): Promise<void> => {
      openAdapters.delete(storage);
      return storage.close();
    };
    cleanUps.push(async () => (openAdapters.has(storage) ? close() : undefined));
    return { ...storage, close };
  };
  const attempt = (work: () => Promise<unknown>): Promise<unknown> =>
    work().catch((error: unknown) => failures.push(error));
  await attempt(() => body(t));
  for (const cleanUp of cleanUps.reverse()) await attempt(cleanUp);
  const [skipped] = failures;
  if (skipped instanceof SkippedTest && failures.length === 1) return skipped;
  if (failures.length > 0) throw explained(failures.find((failure) => !(failure instanceof SkippedTest)));
  return undefined;
}
