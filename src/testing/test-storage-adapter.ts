import { after, describe, it } from 'node:test';
import { setTimeout } from 'node:timers';
import * as check from '../boundary/options.ts';
import { caseTests } from './cases.ts';
import { commitTests } from './commits.ts';
import { Place, Skip } from './place.ts';
import type { StorageAdapterTestOptions, StorageLocation, SuiteContext } from './place.ts';
import { sharingTests } from './sharing.ts';

const tests = { ...caseTests, ...commitTests, ...sharingTests };
const functions = ['makeWriteFail', 'damagePlant', 'startProcess'];

export function createSuite(
  options: StorageAdapterTestOptions,
  callTimeoutMs = 60_000,
): [title: string, test: (t: SuiteContext) => Promise<void>][] {
  return Object.entries(tests).map(([title, test]) => [
    title,
    async (t) => {
      const place = new Place(options, t, callTimeoutMs);
      try {
        await place.create();
        await test(place);
      } catch (error) {
        // The test's error is thrown even if `close` fails, too.
        await place.close().catch(() => undefined);
        if (!(error instanceof Skip)) throw error;
        t.skip(error.message);
        return;
      }
      await place.close();
    },
  ]);
}

/**
 * Registers tests of node:test that check a storage adapter against the contract of `StorageAdapter`. Call this
 * function at the top level of a test file.
 *
 * @throws {TypeError} if an option is invalid; the message names the option.
 * @example
 * testStorageAdapter('MyStorage', { createLocation: () => ({ open: () => new MyStorage() }), shared: false });
 */
export function testStorageAdapter<Location extends StorageLocation>(
  name: string,
  options: StorageAdapterTestOptions<Location>,
): void {
  check.checkOptionNames('testStorageAdapter', options, ['createLocation', 'shared', ...functions]);
  check.checkFunctionOption('createLocation', options.createLocation);
  if (options.shared !== 'exclusive') check.checkBooleanOption('shared', options.shared);
  for (const each of functions) {
    const value: unknown = options[each as never];
    if (value !== undefined) check.checkFunctionOption(each, value);
  }
  const failures: string[] = [];
  describe(`${name} as a StorageAdapter`, () => {
    for (const [title, test] of createSuite(options)) {
      it(title, (t) =>
        test(t).catch((error: unknown) => {
          failures.push(`${title}: ${String(error)}`);
          throw error;
        }),
      );
    }
  });
  after(() => {
    // If the process does not end after the tests, node:test does not print why they failed.
    setTimeout(() => {
      const open = [...new Set(process.getActiveResourcesInfo())].join(', ');
      console.error([`${name}: the process does not end. It has open: ${open}.`, ...failures].join('\n'));
    }, 1000).unref();
  });
}
