// Runs the suite on the adapter that a variable names, such as ADAPTER=RepeatsAfter.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testStorageAdapter } from '../../../src/testing/test-storage-adapter.ts';
import type { StorageAdapterTestOptions, StorageLocation, TestRunner } from '../../../src/testing/suite.ts';
import { adapters } from './broken-adapters.ts';
import { Faults } from './map-storage.ts';

const name = process.env['ADAPTER'] ?? '';
const Adapter = adapters[name];
assert.ok(Adapter, `There is no adapter ${name}.`);

interface FaultyPlace extends StorageLocation {
  readonly faults: Faults;
}

/** A test runner that cannot skip tests. */
const plainRunner: TestRunner = { describe, it: (title, body) => it(title, () => body()) };

const options: StorageAdapterTestOptions<FaultyPlace> = {
  createLocation: () => {
    const faults = new Faults();
    return { faults, open: () => new Adapter(faults) };
  },
  persistent: false,
  runner: name === 'PlainRunner' ? plainRunner : undefined,
  timeoutMs: name === 'NeverSettles' ? 1000 : undefined,
};

const hooks: Pick<StorageAdapterTestOptions<FaultyPlace>, 'makeWriteFail' | 'makePlantUnstorable'> = {
  makeWriteFail: ({ faults }, write) => {
    faults.failing = write;
  },
  makePlantUnstorable: ({ faults }, write) => {
    faults.unstorable = write;
  },
};

testStorageAdapter(name, name === 'MapStorage' ? options : { ...options, ...hooks });
