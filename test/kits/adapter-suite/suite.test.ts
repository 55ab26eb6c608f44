import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { MemoryStorage } from '../../../src/index.ts';
import { testStorageAdapter } from '../../../src/kits/adapter-suite/test-storage-adapter.ts';
import type { StorageAdapterTestOptions } from '../../../src/kits/adapter-suite/suite.ts';

const correct = { createLocation: () => ({ open: () => new MemoryStorage() }), persistent: false };

/** Returns correct options, except for the given ones. */
function withOptions(options: object): StorageAdapterTestOptions {
  return { ...correct, ...options };
}

/** Runs the first test of the suite with a location. */
async function runFirstTest(location: unknown): Promise<void> {
  const tests: (() => Promise<void>)[] = [];
  const runner = {
    describe: (_: string, body: () => void) => {
      body();
    },
    it: (_: string, body: () => Promise<void>) => tests.push(body),
  };
  testStorageAdapter('an adapter', withOptions({ createLocation: () => location, runner }));
  await tests[0]?.();
}

describe('testStorageAdapter with an invalid option', () => {
  const noop = (): void => undefined;
  const invalid: readonly [options: object, message: string][] = [
    [{ createLocation: 'a folder' }, 'createLocation must be a function'],
    [{ persistent: 'no' }, 'persistent must be true or false'],
    [{ persistent: undefined }, 'persistent must be true or false'],
    [{ makeWriteFail: true }, 'makeWriteFail must be a function'],
    [{ makePlantUnstorable: null }, 'makePlantUnstorable must be a function'],
    [{ runner: null }, 'runner.describe must be a function'],
    [{ runner: { it: noop } }, 'runner.describe must be a function'],
    [{ runner: { describe: noop } }, 'runner.it must be a function'],
    [
      { runner: { describe: noop, it: Object.assign(() => undefined, { skip: true }) } },
      'runner.it.skip must be a function',
    ],
    [{ timeoutMs: -5 }, 'timeoutMs must be an integer from 1 to 214748364'],
    [{ timeoutMs: 214_748_365 }, 'timeoutMs must be an integer from 1 to 214748364'],
    [{ timeoutMs: '1000' }, 'timeoutMs must be an integer from 1 to 214748364'],
  ];
  for (const [options, message] of invalid) {
    it(`throws "${message}" for ${inspect(options, { breakLength: Infinity })}`, () => {
      assert.throws(
        () => {
          testStorageAdapter('an adapter', withOptions(options));
        },
        { name: 'TypeError', message },
      );
    });
  }
});

describe('testStorageAdapter with a location', () => {
  const adapter = new MemoryStorage();
  const invalid: readonly [location: unknown, message: string][] = [
    [undefined, 'open of a location must be a function'],
    [{ open: adapter }, 'open of a location must be a function'],
    [{ open: () => adapter, reopen: true }, 'reopen of a location must be a function'],
    [{ open: () => undefined }, 'The result of open must be a storage adapter: it has no commit'],
  ];
  for (const [location, message] of invalid) {
    it(`fails with "${message}" for ${inspect(location, { depth: 0 })}`, async () => {
      await assert.rejects(runFirstTest(location), { name: 'TypeError', message });
    });
  }

  it('accepts the methods open and reopen', async () => {
    await runFirstTest({ open: () => new MemoryStorage(), reopen: () => new MemoryStorage() });
  });
});
