import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import type { StorageAdapter } from '../../src/index.ts';
import type { StorageAdapterTestOptions, StorageLocation } from '../../src/testing.ts';
import { createSuite, testStorageAdapter } from '../../src/testing/test-storage-adapter.ts';
import { Disk, faultsOf, openDisk } from './faults.ts';
import type { DiskStorage } from './faults.ts';

type Options = StorageAdapterTestOptions<StorageLocation & { disk: Disk }>;

/** `change` returns methods that replace those of a correct adapter. */
function optionsOf(change: (real: DiskStorage, disk: Disk) => Partial<StorageAdapter> | undefined): Options {
  return {
    createLocation: () => {
      const disk = new Disk();
      const open = (): StorageAdapter => {
        const real = openDisk(disk);
        return { ...real, ...change(real, disk) };
      };
      return { disk, open, reopen: open };
    },
    shared: true,
    makeWriteFail: ({ disk }, write) => (disk.failing = write),
    damagePlant: ({ disk }, _, id) => (disk.damaged = id),
  };
}

const correct = optionsOf(() => ({}));
const separate = { createLocation: () => ({ disk: new Disk(), open: () => openDisk(new Disk()) }) };

// Correct adapters must pass all tests.
testStorageAdapter('DiskStorage', correct);
testStorageAdapter('DiskStorage that one process opens at a time', {
  ...correct,
  createLocation: () => {
    const disk = new Disk();
    const open = (): StorageAdapter => {
      assert.equal(disk.open.size, 0, 'The disk is locked.');
      return openDisk(disk);
    };
    return { disk, open };
  },
  shared: 'exclusive',
});

/** Runs the tests whose titles contain a string. Returns their errors, and the reasons of skipped tests. */
async function runSuite(options: Options, title = '', callTimeoutMs?: number): Promise<unknown[]> {
  const results: unknown[] = [];
  const add = (result: unknown): void => void results.push(result);
  for (const [each, test] of createSuite(options, callTimeoutMs)) {
    if (!each.includes(title)) continue;
    const cleanUps: (() => unknown)[] = [];
    const after = (cleanUp: unknown): void => void cleanUps.push(cleanUp as () => unknown);
    await test({ skip: add, after, diagnostic: () => undefined }).catch(add);
    for (const cleanUp of cleanUps) await Promise.resolve(cleanUp()).catch(add);
  }
  return results;
}

describe('testStorageAdapter fails on an adapter that', () => {
  const disk = new Disk();
  for (const [title, faults] of Object.entries(faultsOf(openDisk(disk), disk))) {
    for (const fault of Object.keys(faults)) {
      it(fault, async (t) => {
        const options = optionsOf((...parts) => faultsOf(...parts)[title]?.[fault]);
        const isNever = fault.startsWith('never');
        const [error] = await runSuite(options, title, isNever ? 200 : undefined);
        assert.ok(error instanceof Error && error.message.length < 2000, String(error));
        // This would be a mistake in the fault or in the suite.
        assert.doesNotMatch(inspect(error), /(Reference|Syntax|Type)Error: /);
        if (isNever) assert.match(error.message, /^(commit|list|page 1 of scan|close)\(.*\) did not settle within 0.2/);
        t.diagnostic(error.message);
      });
    }
  }
});

it('testStorageAdapter fails if the option shared is wrong', async () => {
  const title = 'adapters at one location';
  assert.match(String(await runSuite({ ...correct, shared: false }, title)), /If shared is false/);
  assert.match(String(await runSuite({ ...separate, shared: true }, title)), /If shared is true/);
});

it('testStorageAdapter shows the random calls that led to a failure', async () => {
  const options = optionsOf(({ list }) => ({ list: (user, { after }) => list(user, { after, limit: 1000 }) }));
  const [error] = await runSuite(options, 'random batches');
  assert.match(String(error), /returned other plants\.\nExpected .*\nThe last calls:\n {2}adapter \d: commit\(.*/);
});

it('testStorageAdapter shows the error of a method that rejected, and its stack', async () => {
  const list = async (): Promise<never> => Promise.reject(new Error('no table'));
  for (const title of ['ids are exact', 'random batches']) {
    const options = optionsOf(() => ({ list }));
    const [error] = await runSuite(options, title);
    assert.match((error as Error).message, /^list\(.*\) rejected: Error: no table/);
    assert.match(inspect(error), /Error: no table\n +at .*list .*test-storage-adapter/);
  }
});

it('testStorageAdapter skips the tests that need a missing option, with the reason', async () => {
  const reasons = [
    'The option damagePlant is missing.',
    'The option makeWriteFail is missing.',
    'The option shared is false, or the location has no reopen.',
    'The adapter has no dataVersion, or shared is not true.',
    'The option startProcess is missing.',
  ];
  assert.deepEqual(await runSuite({ ...separate, shared: false }), reasons);
});
