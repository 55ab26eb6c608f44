import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plainEnvironment, runProgram } from '../../support/run-program.ts';
import { tsx } from '../../support/sources.ts';

/** A program that runs the suite on the adapter named by the environment variable ADAPTER. */
const program = fileURLToPath(new URL('broken-adapters/run.ts', import.meta.url));

/** The suite is killed after this time. */
const boundMs = 60_000;

interface SuiteRun {
  readonly code: number | null;
  readonly output: string;
  /** The printed failures, by the name of the test. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Runs the suite with node:test on an adapter, in a process of its own. */
async function runSuite(adapter: string): Promise<SuiteRun> {
  const args = ['--import', tsx, '--test-reporter=spec', program];
  const env = { ...plainEnvironment(), ADAPTER: adapter };
  const { code, stdout: output } = await runProgram(process.execPath, args, { env, timeoutMs: boundMs });
  const [, details = ''] = output.split('✖ failing tests:\n');
  const failures = [...details.matchAll(/^✖ (.+) \([\d.]+ms\)\n((?: .*\n|\n(?!test at))*)/gm)];
  return { code, output, failures: new Map(failures.map(([, name = '', said = '']) => [name, said])) };
}

/** The tests that must fail on the broken adapters. */
const tests = {
  create: 'a create returns true for a new id; for a taken id, it returns false and changes nothing',
  order: 'plants are sorted by the UTF-8 bytes of the user, then by id as a number',
  texts: 'names and tags are stored unchanged, including empty ones, and a missing tag stays missing',
  list: 'list returns the plants after an id, up to the limit, and whether more plants follow',
  pages: 'listPages returns the pages of several users, in the order of the requests',
  unreadable: 'a batch is all or nothing if its write 4 of 7 throws when it is read',
  createFails: 'a batch is all or nothing if the storage fails at a create in the middle',
  deleteFails: 'a batch is all or nothing if the storage fails at a delete in the middle',
  reopen: 'a batch is all or nothing after reopen if',
  laterCommits: 'commits after a failed batch survive reopen if',
};

const unchanged = 'When a commit resolves, every later call must return its plants, unchanged and in order.';
const allOrNothing =
  'A commit is all or nothing: after a failed commit, no adapter on its location must show its writes.';
const reopened =
  'After the storage was opened again, it must contain exactly the plants of the commits that succeeded.';

/** The adapter, a test that must fail on it, and a sentence of the failure. */
const broken: readonly [adapter: string, test: string, sentence: string][] = [
  ['RepeatsAfter', tests.list, `${unchanged} list('ada', after: -9223372036854775808, limit: 1) returned`],
  ['MixesUsers', tests.create, `${unchanged} list('bob', after: undefined, limit: 1000) returned other plants.`],
  ['ListsPrefix', 'users of up to 255 UTF-8 bytes are distinguished by every byte', `${unchanged} list('"', `],
  ['RoundsIds', tests.order, `${unchanged} list(' ', after: undefined, limit: 1000) returned other plants.`],
  ['ReturnsNullTag', 'commit copies the objects that it is given', '+     tag: null'],
  [
    'IgnoresLimit',
    tests.list,
    "list('ada', after: undefined, limit: 1) returned 5 plants, which is more than its limit.",
  ],
  ['SortsIdsAsText', tests.order, "list(' ', after: undefined, limit: 1000) returned other plants."],
  ['MissesSmallIds', tests.create, `${unchanged} list('ada', after: undefined, limit: 1000) returned other plants.`],
  ['ListsForever', tests.create, 'returned true as hasMore, although the user has no plants after this page.'],
  ['ListsUndefined', tests.create, 'list resolved with undefined. It must resolve with { plants, hasMore }.'],
  [
    'ListsArray',
    tests.create,
    "list resolved with [ { id: 1n, name: 'Fern', tag: 'indoor' } ]. It must resolve with {",
  ],
  ['ThrowsAtOnce', 'every call after close rejects with the code closed', 'It must return a promise that rejects.'],
  ['GuessesHasMore', tests.list, 'returned true as hasMore, although the user has no plants after this page.'],
  ['HidesMore', tests.list, 'returned false as hasMore, although the user has plants after this page.'],
  ['EndsWithEmptyPage', tests.list, 'returned true as hasMore, although the user has no plants after this page.'],
  ['PausesList', tests.list, `${unchanged} list('ada', after: 10, limit: 1) returned other plants.`],
  ['IgnoresPageLimit', tests.pages, 'plants, which is more than its limit.'],
  [
    'SortsPages',
    tests.pages,
    "listPages, for its request 3 of 120 ('bob', after: -5, limit: 6), returned other plants",
  ],
  [
    'MergesRequests',
    'listPages returns a page for each of several identical requests',
    'listPages must resolve with { json, count, last, hasMore } for each of 96 requests, in the order of the requests.',
  ],
  ['ForgetsEscapes', tests.texts, 'which is not JSON: SyntaxError'],
  ['SpacesJson', tests.create, `returned JSON with white space between tokens: '[{"name":"Fern", "tag":"indoor"}]'.`],
  ['CountsBatch', tests.pages, 'returned 92 plants, which is more than its limit.'],
  ['RepeatsLast', tests.pages, 'must return the id of the last plant of the page as last.'],
  ['SharesHasMore', tests.pages, 'returned false as hasMore, although the user has plants after this page.'],
  ['CommitsEachWrite', tests.unreadable, allOrNothing],
  ['CommitsEachStatement', tests.createFails, allOrNothing],
  ['CommitsCreatesFirst', tests.deleteFails, allOrNothing],
  [
    'FailsNeighbours',
    'a plant that the storage cannot hold does not make the other 63 creates fail',
    'Every create must succeed except that of plant 13, which the storage cannot hold.',
  ],
  ['HidesFailure', tests.unreadable, 'commit must reject a batch if the storage fails at one of its writes'],
  ['LosesEmptyTag', tests.texts, unchanged],
  ['AcknowledgesEarly', 'list returns the plants of every resolved commit, even during another commit', 'every later'],
  ['ClosesOnce', 'a second call to close does nothing', 'It rejected with Error "The database is not open.".'],
  ['SortsUsersByUtf16', tests.order, `${unchanged} scan(after: undefined, limit: 1000) returned other plants.`],
  ['NeverSettles', tests.create, 'commit did not settle within 1 second.'],
  [
    'LocksLocation',
    'a commit of one adapter is never visible to another adapter',
    'open failed with Error "EEXIST: file already exists" while another adapter was open.',
  ],
  [
    'SharesPlants',
    'two adapters can create plants with the same id',
    'Two adapters concurrently created plant 0 of the user ada, and their creates returned true and false.',
  ],
  ['NeverWrites', `${tests.reopen} its write 4 of 7 throws when it is read`, reopened],
  ['ForgetsDeletes', `${tests.laterCommits} its write 4 of 7 throws when it is read`, reopened],
  ['TornLog', `${tests.laterCommits} the storage fails at a create in the middle`, reopened],
  [
    'RejectsTornLog',
    `${tests.laterCommits} the storage fails at a delete in the middle`,
    'After a failed commit, the storage could not be opened again: SyntaxError',
  ],
  ['RepairsOnlyItsOwnLog', `${tests.reopen} the storage fails at a create in the middle`, reopened],
  ['LogsEachWrite', `${tests.reopen} the storage fails at a delete in the middle`, reopened],
  ['KeepsVersion', 'dataVersion changes with a commit of another adapter', 'It must have changed.'],
];

const noListPages = 'The adapter does not have the optional method listPages\\.';
const noDataVersion = 'The adapter does not have the optional method dataVersion\\.';
const noReopen = /^.* reopen if .* # The location does not have the optional method reopen\.$/m;

/** A correct adapter, the number of its tests that are skipped, and what the output must contain. */
const correct: readonly [adapter: string, skipped: number, ...reports: RegExp[]][] = [
  [
    'MapStorage', // without the options that make writes fail
    9,
    /if .* at a create .*: not tested, because the option makeWriteFail is missing/,
    new RegExp(`listPages .* # ${noListPages}$`, 'm'),
    new RegExp(`dataVersion .* # ${noDataVersion}$`, 'm'),
  ],
  ['FaultyMapStorage', 5],
  ['ShortPagesStorage', 0], // whose pages are shorter than the limit
  ['LogStorage', 5, /^ℹ pass 39$/m],
  ['LogStorageWithoutReopen', 15, new RegExp(`(?:${noReopen.source}[^]*?){10}`, 'm')],
  // The runner of this adapter cannot skip tests.
  [
    'PlainRunner',
    0,
    ...[noListPages, noDataVersion].map((notice) => new RegExp(`^PlainRunner has .*: ${notice}$`, 'm')),
  ],
];

describe('testStorageAdapter', { concurrency: 2 }, () => {
  for (const [adapter, test, sentence] of broken) {
    it(`fails on ${adapter} in "${test}"`, async () => {
      const { code, output, failures } = await runSuite(adapter);
      assert.equal(code, 1, output);
      const said = failures.get(test) ?? assert.fail(`The test did not fail.\n${output}`);
      assert.ok(said.includes(sentence), said);
      // A failure must be short, even if an adapter returns many plants.
      for (const [name, message] of failures) {
        assert.ok(message.length < 4000, `${name} printed ${message.length} characters`);
      }
    });
  }

  for (const [adapter, skipped, ...reports] of correct) {
    it(`passes on ${adapter}, which is correct, and reports the ${skipped} tests that it skips`, async () => {
      const { code, output } = await runSuite(adapter);
      assert.equal(code, 0, output);
      assert.equal(/^ℹ skipped (\d+)$/m.exec(output)?.[1], String(skipped));
      for (const report of reports) assert.match(output, report);
      assert.equal(output.includes('not tested'), adapter === 'MapStorage');
    });
  }
});
