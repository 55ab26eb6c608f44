import type { TestContext } from 'node:test';
import { atomicityTests } from './atomicity.ts';
import { caseTests } from './cases.ts';
import { Deadline } from './deadline.ts';
import type { LocationContext, StorageAdapterTestOptions } from './options.ts';
import { Place } from './place.ts';
import { randomTests } from './random-calls.ts';
import { sharingTests } from './sharing.ts';

const tests = { ...caseTests, ...atomicityTests, ...sharingTests, ...randomTests };

/** After this many calls that did not settle in time, all further tests are skipped. */
const maxMissed = 3;

type Test = (t: Pick<TestContext, 'skip'>) => Promise<void>;

/** Returns the titles and the tests of an adapter. */
export function createSuite(options: StorageAdapterTestOptions): [title: string, test: Test][] {
  const deadline = new Deadline(options.timeoutMs ?? 10_000);

  return Object.entries(tests).map(([title, body]) => {
    const test: Test = async (t) => {
      if (deadline.missed >= maxMissed) {
        t.skip(`${maxMissed} calls did not settle in time.`);
        return;
      }
      const cleanUps: Parameters<LocationContext['after']>[0][] = [];
      const context: LocationContext = { after: (cleanUp) => void cleanUps.push(cleanUp) };
      const location = await deadline.call('createLocation()', () => options.createLocation(context));
      const place = new Place(options, deadline, location);
      const results = await Promise.allSettled([body(place, t)]);
      results.push(...(await Promise.allSettled([place.close()])));
      for (const cleanUp of cleanUps) {
        const cleaned = deadline.call('a function passed to t.after()', cleanUp);
        results.push(...(await Promise.allSettled([cleaned])));
      }
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    };
    return [title, test];
  });
}
