import type { ChildProcess } from 'node:child_process';
import * as check from '../boundary/options.ts';
import type { StorageAdapter } from '../core/storage-adapter.ts';

/** The place where one test stores its plants, for example a folder or a schema. */
export interface StorageLocation {
  /** Opens an adapter at this location. The suite closes the adapter. */
  open(): StorageAdapter | Promise<StorageAdapter>;
  /**
   * Opens the storage again from its persistent data, as a new process does after a crash. If `shared` is `true`, other
   * adapters are still open and hold their locks, and without this method, tests of durability are skipped. The new
   * adapter must not share anything in memory with the others, such as a database handle or a cache. The suite does not
   * use the others again, except to close them.
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

/** Options of `testStorageAdapter`, which describe the adapter. */
export interface StorageAdapterTestOptions<Location extends StorageLocation = StorageLocation> {
  /** Creates an empty location for one test. Call `t.after` to register a function that removes the location. */
  createLocation: (t: LocationContext) => Location | Promise<Location>;
  /**
   * `true` if all adapters with the same location share their plants, whether they are open at the same time or one
   * after the other; `'exclusive'` if they share them, but only one can be open at a time; `false` if each adapter is
   * empty when it is opened.
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
  /** The time limit of each call, in milliseconds, 1 to 2147483647; default 60000. */
  timeoutMs?: number | undefined;
}

const functions = ['makeWriteFail', 'damagePlant', 'startProcess'];

/** @throws {TypeError} if an option is invalid; the message names the option. */
export function checkOptions(options: StorageAdapterTestOptions): void {
  check.checkOptionNames('testStorageAdapter', options, ['createLocation', 'shared', ...functions, 'timeoutMs']);
  check.checkFunctionOption('createLocation', options.createLocation);
  if (options.shared !== 'exclusive') check.checkBooleanOption('shared', options.shared);
  for (const name of functions) if (name in options) check.checkFunctionOption(name, options[name as never]);
  check.checkIntegerOption('timeoutMs', options.timeoutMs ?? 1, 1, 2_147_483_647);
}
