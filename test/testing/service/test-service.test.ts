import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { runSuites } from '../../support/suite-results.ts';
import type { SuiteRun } from '../../support/suite-results.ts';
import { brokenServers, checkOf } from './broken-servers/broken-servers.ts';

describe('testService', () => {
  let run: SuiteRun;
  before(async () => {
    run = await runSuites(new URL('suites.ts', import.meta.url), [], 300_000);
  });
  const resultsOf = (name: string): SuiteRun['results'] => run.results.filter(({ suite }) => suite.startsWith(name));

  for (const name of Object.keys(brokenServers)) {
    it(`fails on a server that ${name.replace(/^\S+ /, '')}`, (t) => {
      const [result, ...others] = resultsOf(`${name}.`);
      assert.ok(result?.failure !== undefined && others.length === 0, inspect(result) + run.output.slice(-3000));
      assert.ok(result.test.startsWith(`${checkOf(name)} `));
      assert.doesNotMatch(result.failure, /Bearer (?:ada|bob)/);
      t.diagnostic(`${result.test}: ${result.failure.split('\n')[0] ?? ''}`);
    });
  }

  it('has a failing test for each rule', () => {
    const all = new Set(resultsOf('useless').map(({ test }) => test));
    const failed = new Set(run.results.filter(({ failure }) => failure !== undefined).map(({ test }) => test));
    assert.ok(all.size > 70);
    assert.deepEqual(
      [...all].filter((test) => !failed.has(test)),
      [],
    );
  });

  it('skips tests if the server does not respond, and ends', () => {
    const results = resultsOf('useless: no response');
    assert.equal(results.filter(({ failure }) => failure !== undefined).length, 3);
    assert.match(results[0]?.failure ?? '', /^expected: a complete response .*\nreceived: .* timeout\nrequest : /);
    assert.equal(results.at(-1)?.skipped, 'The server did not respond to earlier tests.');
  });

  it('shows the request as a curl command without the token, and the response', () => {
    const [html, leak] = [resultsOf('delete-absent sends an HTML page'), resultsOf('useless: a 500')];
    const lines = html[0]?.failure?.split('\n') ?? [];
    assert.equal(lines[0], 'expected: the media type application/json');
    assert.match(lines[1] ?? '', /^received: status 404, content-type: text\/html, /);
    assert.match(lines[2] ?? '', /^body {4}: \{"error":40402,/);
    assert.match(lines[3] ?? '', /^request : curl .* -X DELETE -H "authorization: Bearer \$TOKEN_A" "http/);
    assert.match(leak[0]?.failure ?? '', /\nbody {4}: The token is \$TOKEN_A\.\n/);
  });
});
