import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { callCommand } from '../../support/call-command.ts';
import { runCommand, spawnCommand } from '../../support/command-line.ts';
import type { Finished } from '../../support/run-program.ts';
import { startService } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const twoTokens = ['--token', 'ada', '--token', 'bob'];

/** Runs the command in a process of its own, because it runs tests of node:test. */
async function check(t: HasAfter, args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return runCommand(['check', ...args], { cwd: await temporaryFolder(t), env }, 60_000);
}

/** Starts a service that replaces text in its responses with text of the same length. */
async function startBroken(t: HasAfter, from: string, to: string): Promise<string> {
  const { server, url } = await startService(t);
  server.prependListener('request', (_: IncomingMessage, response: ServerResponse) => {
    const end = response.end.bind(response) as (body?: string | Uint8Array) => ServerResponse;
    response.end = (body?: unknown) => end(typeof body === 'string' ? body.replace(from, to) : (body as Uint8Array));
  });
  return url;
}

describe('plant-store check', () => {
  it('runs all tests, deletes its plants and exits with 0', async (t) => {
    const service = await startService(t);
    const args = [`${service.url}/`, ...twoTokens, '--read-only-token', 'ada-reads', '--reporter', 'tap'];
    const { code, stdout, stderr } = await check(t, args, { NODE_TEST_CONTEXT: 'child-v8' });
    assert.deepEqual([code, stderr], [0, ''], stdout);
    assert.match(stdout, /^ +ok \d+ - create-200 MUST /m);
    assert.match(stdout, /^# pass [78]\d$/m);
    for (const count of ['fail', 'skipped', 'todo']) assert.match(stdout, new RegExp(`^# ${count} 0$`, 'm'));
    for (const user of ['ada', 'bob']) assert.deepEqual(await service.store.listPlants(user), []);
  });

  it('exits with 1 if a MUST fails, and shows no token', async (t) => {
    const url = await startBroken(t, '"error":40402', '"error":"ada"');
    const { code, stdout, stderr } = await check(t, [url, ...twoTokens, '--only', 'delete-']);
    assert.deepEqual([code, stderr], [1, '']);
    assert.match(stdout, /✖ delete-absent MUST .*\n +\[?expected: an Error: .*\n +received: status 404, .*\n/);
    assert.match(stdout, /body {4}: \{"error":"\$TOKEN_A"/);
    assert.doesNotMatch(stdout, /Bearer (?:ada|bob)/);
  });

  it('exits with 0 if only a SHOULD fails, and runs only the tests that match --only', async (t) => {
    const url = await startBroken(t, '"error":40402', '"error":40499');
    const args = [url, '--only', 'recommendations ', '--reporter', 'junit'];
    const { code, stdout, stderr } = await check(t, args, { PLANT_STORE_CHECK_TOKENS: ' ada  bob\n' });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /name="error-integers SHOULD [^>]* failure="expected: the error 40402/);
    assert.match(stdout, /<skipped type="skipped" message="This test needs a read-only token\."/);
    assert.match(stdout, /<!-- todo 1 -->/);
    assert.doesNotMatch(stdout, /create-200/);
  });

  it('deletes its plants after Ctrl-C and exits with 130', async (t) => {
    const service = await startService(t);
    await service.store.createPlant('ada', { id: 1, name: 'Fern' });
    const child = spawnCommand(['check', service.url, ...twoTokens], { cwd: await temporaryFolder(t) });
    const errors = text(child.stderr);
    // The next test creates 1100 plants.
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (chunk.includes('list-order')) child.kill('SIGINT');
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.deepEqual([code, await errors], [130, '']);
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
    assert.deepEqual(await service.store.listPlants('bob'), []);
  });
});

describe('plant-store check, if the tests cannot be run,', () => {
  it('exits with 2 and prints the reason', async (t) => {
    const service = await startService(t);
    const tokens = (a: string, b: string, ...others: string[]): string[] => [
      ...[service.url, '--token', a, '--token', b],
      ...others,
    ];
    const cases: [args: string[], keyword: string][] = [
      [[], 'two tokens'],
      [['plants.example', ...twoTokens], "'plants.example'"],
      [['http://ada:sesame@plants.example', ...twoTokens], 'address'],
      [tokens('ada', 'ada'), 'two users'],
      [tokens('ada', 'bob', '--reporter', 'xml'), '--reporter'],
      [tokens('ada', 'bob', '--only', '('), 'regular expression'],
      [['http://127.0.0.1:1', ...twoTokens], 'bad port'],
      [['http://plants.invalid', ...twoTokens], 'getaddrinfo'],
      [[`${service.url}/x`, ...twoTokens], `${service.url}/x/plants`],
      [tokens('joe', 'bob'), 'token A: it responded with 401'],
      [tokens('ada-writes', 'bob'), 'token A: it responded with 403'],
      [tokens('ada', 'bob', '--read-only-token', 'joe'), 'the read-only token'],
    ];
    for (const [args, keyword] of cases) {
      const { code, stdout, stderr } = await callCommand(['check', ...args], { cwd: '/' });
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, /^plant-store: [^\n]*\n$/);
      assert.ok(stderr.includes(keyword) && !stderr.includes('sesame'), stderr);
    }
    assert.deepEqual(await service.store.listPlants('ada'), []);
  });

  it('exits with 2 if no test matches --only', async (t) => {
    const service = await startService(t);
    const { code, stderr } = await check(t, [service.url, ...twoTokens, '--only', 'no-such-test']);
    assert.deepEqual([code, stderr], [2, 'plant-store: No test matches --only.\n']);
  });
});
