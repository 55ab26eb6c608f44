import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import type { StorageAdapterTestOptions, StorageLocation } from '../../../src/kits/adapter-suite/suite.ts';
import { testStorageAdapter } from '../../../src/kits/adapter-suite/test-storage-adapter.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import * as brokenAdapters from './broken-adapters/broken-adapters.ts';
import { brokenLists } from './broken-adapters/broken-lists.ts';
import { brokenVersions } from './broken-adapters/broken-versions.ts';
import * as logAdapters from './broken-adapters/log-storage.ts';
import { Faults, MapStorage, ShortPagesStorage } from './broken-adapters/map-storage.ts';
import type { AdapterClass } from './broken-adapters/map-storage.ts';

const adapters: Readonly<Record<string, AdapterClass>> = {
  MapStorage,
  ShortPagesStorage,
  ...brokenAdapters,
  ...brokenLists,
  ...brokenVersions,
  ...logAdapters,
};

/** Returns the suite's options for an adapter. */
function optionsFor(name: string, { canReopen = true, canFail = true } = {}): StorageAdapterTestOptions {
  const Adapter = adapters[name] ?? assert.fail(`There is no adapter ${name}.`);
  const options: StorageAdapterTestOptions<StorageLocation & { faults: Faults }> = {
    createLocation: async (t) => {
      const path = join(await temporaryFolder(t), 'plants.log');
      const faults = new Faults(path);
      const location = { faults, open: () => new Adapter(faults) };
      return canReopen ? { ...location, reopen: () => new Adapter(new Faults(path)) } : location;
    },
    persistent: name in logAdapters || name in brokenVersions,
    timeoutMs: name === 'NeverSettles' ? 1000 : undefined,
    ...(canFail && {
      makeWriteFail: ({ faults }, write) => (faults.failing = write),
      makePlantUnstorable: ({ faults }, write) => (faults.unstorable = write),
    }),
  };
  return options;
}

/** The printed error of each failed test, by test name, and how many tests were skipped for each reason. */
interface SuiteRun {
  readonly failures: Map<string, string>;
  readonly skipped: Record<string, number>;
}

/** Runs the suite with a runner that supports skipping tests if `canSkip` is true. */
async function runSuite(name: string, options: StorageAdapterTestOptions, canSkip = true): Promise<SuiteRun> {
  const run: SuiteRun = { failures: new Map(), skipped: {} };
  const skip = (text: string): void => {
    const reason = text.replace(/^.*: /, '');
    run.skipped[reason] = (run.skipped[reason] ?? 0) + 1;
  };
  const tests: [title: string, body: (context?: object) => Promise<void>][] = [];
  const runner = {
    describe: (_: string, body: () => void) => {
      body();
    },
    it: Object.assign((title: string, body: () => Promise<void>) => tests.push([title, body]), canSkip && { skip }),
  };
  testStorageAdapter(name, { ...options, runner });
  for (const [title, body] of tests) {
    await body(canSkip ? { skip } : undefined).catch((error: unknown) => run.failures.set(title, inspect(error)));
  }
  return run;
}

/** The tests that must fail on the broken adapters. */
const tests = {
  create: 'a create returns true for a new id; for a taken id, it returns false and changes nothing',
  order: 'plants of every user are sorted by id as a number',
  users: 'users of up to 255 UTF-8 bytes are distinguished by every byte',
  texts: 'names and tags are stored unchanged, including empty ones, and a missing tag stays missing',
  list: 'list returns the plants after an id, up to the limit, and whether more plants follow',
  unreadable: 'a batch is all or nothing if its write 4 of 7 throws when it is read',
  createFails: 'a batch is all or nothing if the storage fails at a create in the middle',
  deleteFails: 'a batch is all or nothing if the storage fails at a delete in the middle',
  isolated: 'a commit of one adapter is never visible to another adapter',
  reopen: 'a batch is all or nothing after reopen if',
  version: 'dataVersion changes with a commit of another adapter',
  laterCommits: 'commits after a failed batch survive reopen if',
  close: 'close may be called during a commit and a list call, which then succeed or reject',
};

const unchanged = 'When a commit resolves, every later call must return its plants, unchanged and in order.';
const allOrNothing =
  'A commit is all or nothing: after a failed commit, no adapter on its location must show its writes.';
const reopened =
  'After the storage was opened again, it must contain exactly the plants of the commits that succeeded.';
const plantsFollow = 'returned false as hasMore, although the user has plants after this page.';

/** The broken adapters. Each has the name of a test that must fail and a part of the expected failure message. */
const broken: readonly [adapter: string, test: string, said: string][] = [
  ['RepeatsAfter', tests.list, `${unchanged} list('ada', after: -9223372036854775808, limit: 1) returned`],
  ['MixesUsers', tests.create, `${unchanged} list('bob', after: undefined, limit: 1000) returned other plants.`],
  ['ListsPrefix', tests.users, `${unchanged} list('"', `],
  ['ListsSlashPrefix', tests.users, `${unchanged} list('a', `],
  ['ListsColonPrefix', tests.users, `${unchanged} list('a', `],
  ['ListsControlPrefix', tests.users, `${unchanged} list('a', `],
  ['UsesPropertyPerUser', tests.users, 'list must not reject unless the storage fails or the adapter is closed. It'],
  ['RoundsIds', tests.order, `${unchanged} list(' ', after: undefined, limit: 1000) returned other plants.`],
  ['ReturnsNullTag', 'commit copies the objects that it is given', '+     tag: null'],
  ['IgnoresLimit', tests.list, 'limit: 1) returned 5 plants, which is more than its limit.'],
  ['SortsIdsAsText', tests.order, "list(' ', after: undefined, limit: 1000) returned the plants in the wrong order."],
  ['MissesSmallIds', tests.create, `${unchanged} list('ada', after: undefined, limit: 1000) returned other plants.`],
  ['ListsUndefined', tests.create, 'list resolved with undefined. It must resolve with { plants, hasMore }, an array'],
  ['ThrowsAtOnce', 'every call after close rejects with the code closed', 'It must return a promise that rejects.'],
  ['GuessesHasMore', tests.list, 'returned true as hasMore, although the user has no plants after this page.'],
  ['HidesMore', tests.list, plantsFollow],
  ['PausesList', tests.list, `${unchanged} list('ada', after: 10, limit: 1) returned other plants.`],
  ['CommitsEachWrite', tests.unreadable, allOrNothing],
  ['CommitsEachStatement', tests.createFails, allOrNothing],
  ['CommitsCreatesFirst', tests.deleteFails, allOrNothing],
  ['HidesFailure', tests.unreadable, 'commit must reject a batch if the storage fails at one of its writes'],
  ['LosesEmptyTag', tests.texts, unchanged],
  ['AcknowledgesEarly', 'list returns the plants of every resolved commit, even during another commit', 'every later'],
  ['ClosesOnce', 'a second call to close does nothing', 'It rejected with Error "The database is not open.".'],
  ['ReversesPlants', tests.list, 'returned the plants in the wrong order.'],
  ['ReturnsNumber', tests.create, 'hasMore: 0 }. It must resolve with { plants, hasMore }, an array and a boolean.'],
  ['ForgetsOutcomes', tests.create, 'commit of 1 write resolved with []. It must resolve with 1 boolean.'],
  ['RejectsTakenId', tests.create, 'commit must not reject unless the storage fails or the adapter is closed. It'],
  ['NeverSettles', tests.create, 'commit did not settle within 1 second.'],
  ['LocksLocation', tests.isolated, 'failed with Error "EEXIST: file already exists" while another adapter was open.'],
  ['SharesPlants', 'two adapters can create plants with the same id', 'and their creates returned true and false.'],
  ['NeverWrites', `${tests.reopen} its write 4 of 7 throws when it is read`, reopened],
  ['ForgetsDeletes', `${tests.laterCommits} its write 4 of 7 throws when it is read`, reopened],
  ['TornLog', `${tests.laterCommits} the storage fails at a create in the middle`, reopened],
  ['RejectsTornLog', `${tests.laterCommits} the storage fails at a delete in the middle`, 'opened again: SyntaxError'],
  ['RepairsOnlyItsOwnLog', `${tests.reopen} the storage fails at a create in the middle`, reopened],
  ['LogsEachWrite', `${tests.reopen} the storage fails at a delete in the middle`, reopened],
  ['KeepsVersion', tests.version, 'dataVersion returned 0 and, after a create by another adapter, 0. The number must'],
  ['DropsCommitOnClose', tests.close, 'A commit that succeeds must be durable'],
  ['ReturnsMaximumId', tests.version, 'dataVersion returned 2, 3 and, after a delete by another adapter, 3.'],
  ['CountsPlants', tests.version, 'dataVersion returned 2, 3 and, after a delete by another adapter, 2.'],
  ['AddsLengths', tests.version, 'and, after a create and its delete by another adapter, '],
  ['ReturnsNaN', tests.version, 'dataVersion returned NaN. It must return a finite number.'],
  ['ReturnsPromise', tests.version, 'dataVersion returned Promise { 2'],
];

const noDataVersion = 'The adapter does not have the optional method dataVersion.';
const noReopen = 'The location does not have the optional method reopen.';

const withoutMethods = { [noDataVersion]: 1 };
const withoutFaults = {
  'not tested, because the option makeWriteFail is missing': 2,
  'not tested, because the option makePlantUnstorable is missing': 1,
};

/** The correct adapters. Each has its options and the number of skipped tests for each reason. */
const correct: readonly [adapter: string, options: StorageAdapterTestOptions, skipped: SuiteRun['skipped']][] = [
  ['MapStorage', optionsFor('MapStorage'), withoutMethods],
  ['MapStorage without faults', optionsFor('MapStorage', { canFail: false }), { ...withoutMethods, ...withoutFaults }],
  ['ShortPagesStorage', optionsFor('ShortPagesStorage'), {}], // Its pages are shorter than the limit.
  ['LogStorage', optionsFor('LogStorage'), withoutMethods],
  ['LogStorage without reopen', optionsFor('LogStorage', { canReopen: false }), { ...withoutMethods, [noReopen]: 11 }],
];

describe('testStorageAdapter', () => {
  for (const [adapter, test, sentence] of broken) {
    it(`fails on ${adapter} in "${test}"`, async () => {
      const { failures } = await runSuite(adapter, optionsFor(adapter));
      const said = failures.get(test) ?? assert.fail(`The test did not fail, but ${inspect(failures)}.`);
      assert.ok(said.includes(sentence), said);
      // A failure message must be short, even if an adapter returns many plants.
      for (const [name, message] of failures) {
        assert.ok(message.length < 4000, `${name} printed ${message.length} characters`);
      }
    });
  }

  for (const [adapter, options, skipped] of correct) {
    it(`passes on the correct adapter ${adapter} and reports skipped tests`, async () => {
      assert.deepEqual(await runSuite(adapter, options), { failures: new Map(), skipped });
    });
  }

  it('prints each reason for skipping once if the runner cannot skip tests', async (t) => {
    const info = t.mock.method(console, 'info', () => undefined);
    const run = await runSuite('MyStorage', optionsFor('MapStorage'), false);
    assert.deepEqual(run, { failures: new Map(), skipped: {} });
    assert.deepEqual(
      info.mock.calls.map(({ arguments: [text] }) => text as string),
      [noDataVersion].map((reason) => `MyStorage has tests that pass without testing anything: ${reason}`),
    );
  });
});

describe('testStorageAdapter with an invalid option', () => {
  const noop = (): void => undefined;
  const invalid: readonly [options: object, message: string][] = [
    [{ createLocation: 'a folder' }, 'createLocation must be a function'],
    [{ persistent: undefined }, 'persistent must be true or false'],
    [{ makeWriteFail: true }, 'makeWriteFail must be a function'],
    [{ makePlantUnstorable: null }, 'makePlantUnstorable must be a function'],
    [{ runner: null }, 'runner.describe must be a function'],
    [{ runner: { describe: noop } }, 'runner.it must be a function'],
    [{ runner: { describe: noop, it: Object.assign(() => 0, { skip: true }) } }, 'runner.it.skip must be a function'],
    [{ timeoutMs: 0 }, 'timeoutMs must be an integer from 1 to 214748364'],
    [{ timeoutMs: 214_748_365 }, 'timeoutMs must be an integer from 1 to 214748364'],
  ];
  for (const [options, message] of invalid) {
    it(`throws "${message}" for ${inspect(options, { breakLength: Infinity })}`, () => {
      const all = { ...optionsFor('MapStorage'), ...options };
      assert.throws(testStorageAdapter.bind(undefined, 'MapStorage', all), { name: 'TypeError', message });
    });
  }
});

describe('testStorageAdapter with an invalid location', () => {
  const open = (): MapStorage => new MapStorage(new Faults(''));
  const invalid: readonly [location: unknown, message: string][] = [
    [undefined, 'open of a location must be a function'],
    [{ open: open() }, 'open of a location must be a function'],
    [{ open, reopen: true }, 'reopen of a location must be a function'],
    [{ open: () => undefined }, 'The result of open must be a storage adapter: it has no commit'],
  ];
  for (const [location, message] of invalid) {
    it(`fails with "${message}" for ${inspect(location, { depth: 0 })}`, async () => {
      const createLocation = (): StorageLocation => location as StorageLocation;
      const { failures } = await runSuite('MapStorage', { createLocation, persistent: false });
      assert.ok(failures.get(tests.create)?.includes(`TypeError: ${message}`), inspect(failures));
    });
  }
});
