import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inspect } from 'node:util';
import type { StorageAdapter } from '../../src/index.ts';
import { testStorageAdapter } from '../../src/testing.ts';
import type { StorageAdapterTestOptions, StorageLocation } from '../../src/testing.ts';
import { createSuite } from '../../src/testing/suite.ts';
import type { Change } from './changes.ts';
import { Disk, openDisk } from './disk-storage.ts';
import { faultsOfCommits } from './faults-of-commits.ts';
import { faultsOfClosing, faultsOfVersions, faultsThatHang } from './faults-of-lifecycles.ts';
import { faultsOfLists, faultsOfScans } from './faults-of-reads.ts';

type Options = StorageAdapterTestOptions<StorageLocation & { disk: Disk }>;

function optionsOf(change: Change): Options {
  return {
    createLocation: () => {
      const disk = new Disk();
      const open = (): StorageAdapter => {
        const real = openDisk(disk);
        return { ...real, ...(change(real, disk) as Partial<StorageAdapter>) };
      };
      return { disk, open, reopen: open };
    },
    shared: true,
    makeWriteFail: ({ disk }, write) => (disk.failing = write),
  };
}

const correct = optionsOf(() => ({}));
const separate = { createLocation: () => ({ disk: new Disk(), open: () => openDisk(new Disk()) }) };

// A correct adapter must pass all tests.
testStorageAdapter('DiskStorage', correct);

/** Runs the tests whose titles contain a string. Returns their errors, and the reasons of skipped tests. */
async function runSuite(options: Options, title = ''): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const [each, test] of createSuite(options)) {
    if (!each.includes(title)) continue;
    await test({ skip: (reason) => results.push(reason) }).catch((error: unknown) => results.push(error));
  }
  return results;
}

for (const faults of [
  faultsOfCommits,
  faultsOfLists,
  faultsOfScans,
  faultsOfVersions,
  faultsOfClosing,
  faultsThatHang,
]) {
  for (const [title, changes] of Object.entries(faults)) {
    for (const [fault, change] of Object.entries(changes)) {
      it(`testStorageAdapter fails on an adapter that ${fault}`, async (t) => {
        const timeoutMs = faults === faultsThatHang ? 200 : undefined;
        const [error] = await runSuite({ ...optionsOf(change), timeoutMs }, title);
        assert.ok(error instanceof Error && error.message.length < 2000, String(error));
        // Any other TypeError is a mistake in the fault or in the suite.
        const frozen = 'Cannot assign to read only property|Cannot add property';
        assert.doesNotMatch(inspect(error), new RegExp(`(Reference|Syntax|Type)Error: (?!${frozen})`));
        t.diagnostic(error.message);
      });
    }
  }
}

it('testStorageAdapter fails if the option shared is wrong', async () => {
  for (const options of [
    { ...correct, shared: false },
    { ...separate, shared: true },
  ]) {
    const [error] = await runSuite(options, 'adapters at one location');
    assert.match(String(error), /If shared is (true|false)/);
  }
});

it('testStorageAdapter shows the random calls that led to a failure', async () => {
  const [error] = await runSuite(
    optionsOf(() => ({ dataVersion: () => 0 })),
    'random batches',
  );
  assert.match(String(error), /dataVersion\(\) returned 0 again\.\nThe last calls:\n {2}adapter 1: commit\(.*/);
});

it('testStorageAdapter names a call that does not settle, and skips the rest after three such calls', async () => {
  const never = new Promise(() => undefined);
  const results = await runSuite({ ...optionsOf(() => ({ list: () => never })), timeoutMs: 200 });
  for (const error of results.splice(0, 3)) assert.match(String(error), /list\('.*', \{ .* \}\) did not settle/);
  assert.deepEqual(new Set(results), new Set(['3 calls did not settle in time.']));
});

it('testStorageAdapter runs all functions passed to t.after(), and reports the failure of the test first', async () => {
  const calls: string[] = [];
  const createLocation: Options['createLocation'] = (t) => {
    const disk = new Disk();
    t.after(() => {
      calls.push('first');
      throw new Error('no folder');
    });
    t.after(() => void calls.push('second'));
    return { disk, open: () => openDisk(disk) };
  };
  const [cleaned] = await runSuite({ createLocation, shared: false }, 'a batch may contain');
  assert.match(String(cleaned), /no folder/);
  assert.deepEqual(calls, ['first', 'second']);
  const fail = (): never => {
    throw new Error('not open');
  };
  const open = (): StorageAdapter => ({ ...openDisk(new Disk()), commit: fail });
  const failing: Options['createLocation'] = async (t) => ({ ...(await createLocation(t)), open });
  const [tested] = await runSuite({ createLocation: failing, shared: false }, 'a batch may contain');
  assert.match(String(tested), /not open/);
});

it('testStorageAdapter skips the tests that need a missing option, with the reason', async () => {
  const reasons = [
    'The option makeWriteFail is missing.',
    'The option shared is false, or the location has no reopen.',
  ];
  assert.deepEqual(await runSuite({ ...separate, shared: false }), reasons);
});
