// Runs the suite on the adapter that a variable names, such as ADAPTER=RepeatsAfter.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { testStorageAdapter } from '../../../../src/kits/adapter-suite/test-storage-adapter.ts';
import type {
  StorageAdapterTestOptions,
  StorageLocation,
  TestRunner,
} from '../../../../src/kits/adapter-suite/suite.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { adapters } from './broken-adapters.ts';
import { logAdapters } from './log-storage.ts';
import { Faults } from './map-storage.ts';

const name = process.env['ADAPTER'] ?? '';
const Adapter = adapters[name] ?? logAdapters[name];
assert.ok(Adapter, `There is no adapter ${name}.`);

interface FaultyPlace extends StorageLocation {
  readonly faults: Faults;
}

/** A test runner that cannot skip tests. */
const plainRunner: TestRunner = { describe, it: (title, body) => it(title, () => body()) };

const options: StorageAdapterTestOptions<FaultyPlace> = {
  createLocation: async (t) => {
    const path = join(await temporaryFolder(t), 'plants.log');
    const faults = new Faults(path);
    const location = { faults, open: () => new Adapter(faults) };
    return name === 'LogStorageWithoutReopen' ? location : { ...location, reopen: () => new Adapter(new Faults(path)) };
  },
  persistent: name in logAdapters,
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
