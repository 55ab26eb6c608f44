import { after, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers';
import { atomicityTests } from './atomicity.ts';
import { caseTests } from './cases.ts';
import { checkOptions } from './options.ts';
import type { StorageAdapterTestOptions, StorageLocation } from './options.ts';
import { Place, Skip } from './place.ts';
import { randomTests } from './random-calls.ts';
import { sharingTests } from './sharing.ts';

const tests = { ...caseTests, ...atomicityTests, ...sharingTests, ...randomTests };

type Test = (t: Pick<TestContext, 'after' | 'skip'>) => Promise<void>;

/** Returns the titles and the tests of an adapter. */
export function createSuite(options: StorageAdapterTestOptions): [title: string, test: Test][] {
  return Object.entries(tests).map(([title, body]) => {
    const test: Test = async (t) => {
      const place = new Place(options);
      t.after(() => place.close());
      try {
        await place.create(t);
        await body(place);
      } catch (error) {
        if (!(error instanceof Skip)) throw error;
        t.skip(error.message);
      }
    };
    return [title, test];
  });
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
  checkOptions(options);
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
  // If the process does not end after the tests, node:test does not print the failures.
  const before = process.getActiveResourcesInfo();
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo();
      for (const each of before) if (open.includes(each)) open.splice(open.indexOf(each), 1);
      const kinds = [...new Set(open)].join(', ');
      const hint = `${name}: the tests are over, but the process does not end, because it has open: ${kinds}.`;
      console.error([hint, ...failures].join('\n'));
    }, 1000).unref();
  });
}
