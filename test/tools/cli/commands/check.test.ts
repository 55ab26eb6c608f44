import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer, text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { checkCases } from '../../../../src/kits/conformance/cases.ts';
import type { Caller } from '../../../../src/http.ts';
import { MemoryStorage } from '../../../../src/index.ts';
import { callCommand } from '../../../support/call-command.ts';
import { spawnCommand } from '../../../support/command-line.ts';
import { listenUrl } from '../../../support/listen.ts';
import type { Finished } from '../../../support/run-program.ts';
import { authenticateByName, startService } from '../../../support/service.ts';
import { rowOfPlants } from '../../../support/stored-plants.ts';
import type { Service } from '../../../support/service.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { createEach } from '../../../support/writes.ts';

const twoTokens = ['--token', 'ada', '--token', 'bob'];

function check(args: string[], env: Record<string, string> = {}): Promise<Finished> {
  return callCommand(['check', ...args], { cwd: '/', env });
}

/** Starts a proxy in front of a service. The proxy replaces text in the responses. */
function startBrokenProxy(t: HasAfter, { url }: Service, from: string, to: string): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = request.method === 'POST' ? { body: new Uint8Array(await buffer(request)) } : {};
      const { authorization = '', 'content-type': contentType = '' } = request.headers;
      const headers = { authorization, 'content-type': contentType };
      const answer = await fetch(url + (request.url ?? ''), { method: request.method ?? '', headers, ...body });
      for (const [name, value] of answer.headers) if (name !== 'content-length') response.setHeader(name, value);
      response.writeHead(answer.status).end((await answer.text()).replaceAll(from, to));
    })();
  });
  return listenUrl(t, server);
}

describe('plant-store check', () => {
  it('prints a line for each check and a summary, and exits with 0, even if words contain a token', async (t) => {
    const users: Record<string, Caller> = {
      a: { user: 'ada' },
      b: { user: 'bob' },
      r: { user: 'ada', scopes: ['plants:read'] },
    };
    const service = await startService(t, { authenticate: (token) => users[token] ?? null });
    const options = '--token a --token b --read-only-token r --concurrent --operations 100'.split(' ');
    const { code, stdout, stderr } = await check([`${service.url}/`, ...options]);
    assert.deepEqual([code, stderr], [0, ''], stdout);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines[0], '✓ MUST respond to a valid POST /plants with 200 (create-200)');
    const total = checkCases.length + 1;
    assert.equal(lines.filter((line) => line.startsWith('✓ ')).length, total);
    const counts = `${total} passed, 0 failed, 0 warnings, 0 not run`;
    assert.match(lines.at(-1) ?? '', new RegExp(`^${total} checks in \\d+\\.\\d s: ${counts}\\.$`));
    for (const user of ['ada', 'bob']) assert.deepEqual(await service.store.listPlants(user), []);
  });

  it('exits with 1 if a MUST fails, and shows the expected and the received response without the tokens', async (t) => {
    const url = await startBrokenProxy(t, await startService(t), '"error":40402', '"error":"not found: ada"');
    const { code, stdout, stderr } = await check([url, ...twoTokens]);
    assert.deepEqual([code, stderr], [1, '']);
    const [report = ''] = /^✗ .*\(delete-absent\)\n(?: .*\n)+/m.exec(stdout) ?? [];
    assert.match(
      report,
      new RegExp(
        [
          '^✗ MUST respond with 404 to the DELETE of an absent plant \\(delete-absent\\)',
          ' {4}expected: an Error: \\{"error": int32, "message": string\\}',
          ' {4}received: status 404, content-type: application/json, cache-control: no-store',
          ' {14}\\{"error":"not found: \\$TOKEN_A","message":"You have no plant with this id."\\}',
          ' {4}source: {3}Plant Store interface: Delete Plant',
          ` {4}request: {2}curl -i --path-as-is -X DELETE -H 'authorization: Bearer '"\\$TOKEN_A" '${url}/plants/\\d+'`,
          '$',
        ].join('\n'),
      ),
    );
    assert.doesNotMatch(stdout, /Bearer (?:ada|bob)/);
    assert.match(stdout, /\n\n\d+ checks in .* passed, [1-9]\d* failed, \d+ warnings?, \d+ not run\.\n$/);
  });

  it('exits with 0 if only a SHOULD fails, and prints JSON that counts the checks that were not run', async (t) => {
    const url = await startBrokenProxy(t, await startService(t), '"error":40402', '"error":40499');
    const { code, stdout, stderr } = await check([url, '--json'], { PLANT_STORE_CHECK_TOKENS: ' ada  bob\n' });
    assert.deepEqual([code, stderr], [0, '']);
    const { checks, ...counts } = JSON.parse(stdout) as { checks: Record<string, unknown>[] };
    const notRun = checks.filter(({ outcome }) => outcome === 'not run');
    assert.ok(notRun.length >= 4);
    for (const { reason } of notRun) assert.equal(reason, 'This check needs a read-only token.');
    const passed = checkCases.length - notRun.length - 1;
    assert.deepEqual(counts, { baseUrl: url, passed, failed: 0, warnings: 1, notRun: notRun.length });
    assert.deepEqual(checks[0], {
      id: 'create-200',
      level: 'MUST',
      name: 'MUST respond to a valid POST /plants with 200',
      source: 'Plant Store interface: Create Plant',
      outcome: 'passed',
    });
    const [{ curl, ...warning } = {}] = checks.filter(({ outcome }) => outcome === 'failed');
    assert.deepEqual(warning, {
      id: 'code-plant-not-found',
      level: 'SHOULD',
      name: 'SHOULD respond with the error 40402 to the DELETE of an absent plant',
      source: 'Plant Store interface: error integer',
      outcome: 'failed',
      expected: 'the error 40402',
      received: {
        status: 404,
        headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
        body: '{"error":40499,"message":"You have no plant with this id."}',
      },
    });
    assert.match(String(curl), /^curl .*"\$TOKEN_A"/);
  });

  it('removes its plants after Ctrl-C and exits with 130', async (t) => {
    const service = await startService(t);
    await service.store.createPlant('ada', { id: 1, name: 'Fern' });
    const child = spawnCommand(['check', service.url, ...twoTokens], { cwd: await temporaryFolder(t) });
    const errors = text(child.stderr);
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      // This check runs before the check that creates the most plants.
      if (chunk.includes('(list-empty)')) child.kill('SIGINT');
    });
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.deepEqual([code, await errors], [130, 'plant-store: The checks were interrupted.\n']);
    assert.doesNotMatch(stdout, /checks in/);
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
    assert.deepEqual(await service.store.listPlants('bob'), []);
  });
});

describe('plant-store check, if the checks cannot be run,', () => {
  it('exits with 2 and prints the reason', async (t) => {
    const service = await startService(t, {
      authenticate: (token) => (token === 'ada2' ? { user: 'ada' } : authenticateByName(token)),
    });
    const refused = (a: string, b: string, ...others: string[]): Promise<Finished> =>
      check([service.url, '--token', a, '--token', b, ...others]);
    const cases: [finished: Promise<Finished>, message: string][] = [
      [
        check(['http://127.0.0.1:1', ...twoTokens]),
        'No Plant Store responds at http://127.0.0.1:1: fetch blocks this port',
      ],
      [
        check(['http://plants.invalid', ...twoTokens]),
        'No Plant Store responds at http://plants.invalid: getaddrinfo ',
      ],
      [check([`${service.url}/x`, ...twoTokens]), `GET ${service.url}/x/plants responded with 404 instead of 200. `],
      [refused('joe', 'bob'), 'The server refuses token A: it responded with 401.\n'],
      [refused('ada', 'joe'), 'The server refuses token B: it responded with 401.\n'],
      [refused('ada-writes', 'bob'), 'The server refuses token A: it responded with 403.\n'],
      [refused('bob', 'ada-reads'), 'The server does not allow token B to create plants: '],
      [refused('ada', 'ada2'), 'Both tokens are of the same user: use the tokens of two users.\n'],
      [refused('ada', 'bob', '--read-only-token', 'joe'), 'The server refuses the read-only token: '],
    ];
    for (const [finished, message] of cases) {
      const { code, stdout, stderr } = await finished;
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.ok(stderr.startsWith(`plant-store: ${message}`) && stderr.trimEnd().split('\n').length === 1, stderr);
    }
    assert.deepEqual(await service.store.listPlants('ada'), []);
  });

  it('exits with 2 for a user with more than 10,000 plants', async (t) => {
    const storage = new MemoryStorage();
    await storage.commit(createEach(rowOfPlants('bob', 10_001)));
    const service = await startService(t, { storage });
    const stderr = 'plant-store: The user of token B has more than 10000 plants: use a user with fewer plants.\n';
    assert.deepEqual(await check([service.url, ...twoTokens]), { code: 2, stdout: '', stderr });
  });
});
