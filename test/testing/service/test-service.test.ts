import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { testService } from '../../../src/testing.ts';
import { runSuites } from '../../support/suite-results.ts';
import type { SuiteRun } from '../../support/suite-results.ts';
import { brokenServers } from './broken-servers/broken-servers.ts';

const file = new URL('suites.ts', import.meta.url);
const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

describe('testService', () => {
  let run: SuiteRun;
  before(async () => {
    const names = Object.keys(brokenServers);
    // The last test of the OpenAPI document compares it with the responses to other tests.
    const patterns = names.map((name) => `^${escape(name)} .+ (?:auth-missing|${name.split(' ')[0] ?? ''}) `);
    run = await runSuites(file, [...patterns, '^useless: '], 300_000);
  });

  for (const name of Object.keys(brokenServers)) {
    it(`fails on a server that ${name.replace(/^\S+ /, '')}`, (t) => {
      const [id = ''] = name.split(' ');
      const results = run.results.filter(({ suite }) => suite.startsWith(`${name}.`));
      const found = results.find(({ test }) => test.startsWith(`${id} `));
      assert.ok(found?.failure !== undefined, inspect(found) + run.output.slice(-3000));
      assert.doesNotMatch(found.failure, /Bearer (?:ada|bob)/);
      t.diagnostic(`${id}: ${found.failure.split('\n')[0] ?? ''}`);
    });
  }

  it('deletes its plants and does not change other plants, unless the server cannot delete plants', () => {
    assert.doesNotMatch(run.output, /Expected values to be strictly deep-equal/);
  });

  it('has a failing test for each rule', () => {
    const all = new Set(run.results.filter(({ suite }) => suite.startsWith('useless')).map(({ test }) => test));
    const failed = new Set(run.results.filter(({ failure }) => failure !== undefined).map(({ test }) => test));
    const silent = [...all].filter((test) => !failed.has(test) && !test.startsWith('header-repeated-'));
    assert.ok(all.size > 110);
    assert.deepEqual(silent, []);
  });

  it('skips tests if the server does not respond, and ends', () => {
    const results = run.results.filter(({ suite }) => suite.startsWith('useless: no response'));
    assert.equal(results.filter(({ failure }) => failure !== undefined).length, 3);
    assert.match(
      results[0]?.failure ?? '',
      /^expected: a complete response\nreceived: no complete response within 10 s\n/,
    );
    assert.equal(results.at(-1)?.skipped, 'The server did not respond to earlier tests.');
  });

  it('shows the request as a curl command without the token, and the response', () => {
    const name = 'delete-absent sends an HTML page with a 404';
    const { failure = '' } = run.results.find(({ suite }) => suite.startsWith(name)) ?? {};
    assert.match(
      failure,
      /^expected: the media type application\/json\nreceived: status 404, content-type: text\/html, /,
    );
    assert.match(failure, /\nbody {4}: \{"error":40402,/);
    assert.match(failure, /\nnote {4}: A proxy or a web framework probably sent this HTML page\.\n/);
    assert.match(failure, /\nrequest : curl -i --path-as-is -X DELETE -H "authorization: Bearer \$TOKEN_A" "http/);
  });

  for (const [options, message] of [
    [{ url: 'plants.example' }, 'The URL must be an address'],
    [{ url: 'http://ada@plants.example' }, 'The URL must be an address'],
    [{ tokens: { a: 'ada', b: 'b b' } }, 'tokens.b must be a bearer token'],
    [{ tokens: { a: 'ada', b: 'ada' } }, 'tokens.a and tokens.b must be the tokens of two users'],
    [{ fetch: 'fetch' }, 'fetch must be a function'],
    [{ only: '' }, 'testService has no option only'],
  ] as const) {
    it(`throws a TypeError: ${message}`, () => {
      const all = { url: 'http://plants.example', tokens: { a: 'ada', b: 'bob' }, ...options } as never;
      const isRight = (error: unknown): boolean => error instanceof TypeError && error.message.startsWith(message);
      assert.throws(() => {
        testService('server', all);
      }, isRight);
    });
  }
});
