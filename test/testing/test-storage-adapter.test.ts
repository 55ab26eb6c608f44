import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plainEnvironment, runProgram } from '../support/run-program.ts';
import { tsx } from '../support/sources.ts';

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

/** Runs the suite with `node --test` on an adapter. */
async function runSuite(adapter: string): Promise<SuiteRun> {
  const args = ['--import', tsx, '--test', '--test-reporter=spec', program];
  const env = { ...plainEnvironment(), ADAPTER: adapter };
  const { code, stdout: output } = await runProgram(process.execPath, args, { env, timeoutMs: boundMs });
  const [, details = ''] = output.split('✖ failing tests:\n');
  const failures = [...details.matchAll(/^✖ (.+) \([\d.]+ms\)\n((?: .*\n|\n(?!test at))*)/gm)];
  return { code, output, failures: new Map(failures.map(([, name = '', said = '']) => [name, said])) };
}

/** The adapter, a test that must fail on it, and a sentence of the failure. */
const broken: readonly [adapter: string, test: string, sentence: string][] = [
  [
    'RepeatsAfter',
    'list returns the plants after an id, up to the limit',
    'list(after: 10, limit: 1) returned 10 again.',
  ],
  [
    'MixesUsers',
    'list returns nothing for a user without plants',
    'list must return only the plants of the given user.',
  ],
  ['RoundsIds', 'list sorts ids as numbers, in the whole int64 range', 'returned -9223372036854775808 again.'],
  [
    'CommitsEachWrite',
    'a batch is all or nothing if its write 4 of 7 throws when it is read',
    'A commit is all or nothing: after a failed commit, the same adapter must show none of its writes.',
  ],
  [
    'CommitsEachStatement',
    'a batch is all or nothing if the storage fails at a create in the middle',
    'A commit is all or nothing: after a failed commit, the same adapter must show none of its writes.',
  ],
  [
    'CommitsCreatesFirst',
    'a batch is all or nothing if the storage fails at a delete in the middle',
    'A commit is all or nothing: after a failed commit, the same adapter must show none of its writes.',
  ],
  [
    'FailsNeighbours',
    'a plant that the storage cannot hold does not make the other 63 creates fail',
    'The create of plant 0 must succeed, although the storage cannot hold another plant.',
  ],
  [
    'HidesFailure',
    'a batch is all or nothing if its write 7 of 7 throws when it is read',
    'commit must reject a batch if one of its writes throws when it is read.',
  ],
  [
    'IgnoresLimit',
    'list returns the plants after an id, up to the limit',
    'list(after: undefined, limit: 2) returned 3 plants, which is more than its limit.',
  ],
  [
    'LosesEmptyTag',
    'names and tags are stored unchanged, including empty ones, and a missing tag stays missing',
    "'' is a tag",
  ],
  [
    'SortsIdsAsText',
    'list sorts ids as numbers, in the whole int64 range',
    'Ids must be in ascending numerical order.',
  ],
  [
    'AcknowledgesEarly',
    'list returns the plants of every resolved commit, even during another commit',
    "did not return plant 0 of the user 'ada', although its create had returned true.",
  ],
  [
    'ClosesOnce',
    'a second call to close does nothing',
    'A second call to close must do nothing. It rejected with Error "The database is not open.".',
  ],
  [
    'SortsUsersByUtf16',
    'scan sorts by the UTF-8 bytes of the user, then by id in the whole int64 range',
    String.raw`returned (user: '\u{e000}', id: -9223372036854775808) after (user: '\u{10ffff}', id: `,
  ],
  [
    'NeverSettles',
    'a create returns true for a new id; for a taken id, it returns false and changes nothing',
    'commit did not settle within 1 second.',
  ],
  [
    'ListsUndefined',
    'list returns nothing for a user without plants',
    'resolved with undefined. It must resolve with an array.',
  ],
  ['ThrowsAtOnce', 'every call after close rejects with the code closed', 'It must return a promise that rejects.'],
  [
    'ListsForever',
    'list returns the plants of every resolved commit, even during another commit',
    'which is more than were stored.',
  ],
  [
    'MissesSmallIds',
    'commit copies the objects that it is given',
    "did not return plant 1 of the user 'ada', although its create had returned true.",
  ],
  [
    'ListsPrefix',
    'users of up to 255 UTF-8 bytes are distinguished by every byte',
    "returned 7 for the user 'a' more than once. Other users, such as ",
  ],
  ['ReturnsNullTag', 'commit copies the objects that it is given', 'returned plant 1 with the tag null.'],
  [
    'ReturnsNullTag',
    'of many concurrent creates of the same plant, exactly one succeeds',
    'A plant without a tag must not have the property tag.',
  ],
  [
    'LocksLocation',
    'a commit of one adapter is never visible to another adapter',
    'Another adapter with the same location was open.',
  ],
  [
    'SharesPlants',
    'two adapters can create plants with the same id',
    'Two adapters concurrently created plant 0 of the user ada, and their creates returned true and false.',
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

  it('passes on a correct adapter, and reports what it does not prove because of missing options', async () => {
    const { code, output } = await runSuite('MapStorage');
    assert.equal(code, 0, output);
    assert.match(output, /^ℹ pass \d\d$/m);
    assert.match(output, /^ℹ skipped 11$/m);
    assert.match(
      output,
      /a batch is all or nothing if .* at a create .*: not tested, because the option makeWriteFail is missing/,
    );
    assert.match(output, /listJson .* # The adapter does not have the optional method listJson\.$/m);
    assert.match(output, /dataVersion .* # The adapter does not have the optional method dataVersion\.$/m);
  });

  it('prints which optional methods are missing, if the test runner cannot skip tests', async () => {
    const { code, output } = await runSuite('PlainRunner');
    assert.equal(code, 0, output);
    assert.match(output, /^ℹ skipped 0$/m);
    const notices = output.split('\n').filter((line) => line.startsWith('PlainRunner has tests that pass without'));
    assert.deepEqual(notices.map((notice) => notice.split(': ')[1]).sort(), [
      'The adapter does not have the optional method dataVersion.',
      'The adapter does not have the optional method listJson.',
    ]);
  });

  it('passes on a correct adapter with both fault options, and skips only tests of optional methods', async () => {
    const { code, output } = await runSuite('FaultyMapStorage');
    assert.equal(code, 0, output);
    assert.match(output, /^ℹ skipped 7$/m);
    assert.doesNotMatch(output, /not tested/);
  });
});
