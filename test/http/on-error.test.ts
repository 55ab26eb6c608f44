import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryStorage } from '../../src/index.ts';
import { evalArgs, runProgram } from '../support/run-program.ts';
import { startService } from '../support/service.ts';
import { sourceUrl } from '../support/sources.ts';

const secrets = ['TOKEN-SECRET', 'COOKIE-SECRET', 'QUERY-SECRET', 'BODY-SECRET', 'ROW-SECRET'];

/** Runs a service whose storage fails with an error like that of PostgreSQL, and whose requests contain secrets. */
const program = `
  import { once } from 'node:events';
  import { createServer } from 'node:http';
  import { MemoryStorage, PlantStore } from '${sourceUrl('index.ts')}';
  import { createRequestListener } from '${sourceUrl('http.ts')}';

  const storage = new MemoryStorage();
  const failure = new Error('disk full', { cause: Object.assign(new Error('null value'), { code: '23502', detail: 'Failing row contains (ROW-SECRET)' }) });
  storage.commit = () => Promise.reject(failure);
  storage.list = () => Promise.reject(failure);
  const listener = createRequestListener(new PlantStore({ storage }), { authenticate: () => ({ user: 'ada' }) });
  const server = createServer((request, response) => {
    // Like a body parser that has not read this body.
    request.body = { name: 'BODY-SECRET' };
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = 'http://127.0.0.1:' + server.address().port + '/plants';
  const headers = { authorization: 'Bearer TOKEN-SECRET', cookie: 'a=COOKIE-SECRET', 'content-type': 'application/json' };
  const statuses = [
    await fetch(url + '?a=QUERY-SECRET', { method: 'POST', headers, body: '{"id":1,"name":"BODY-SECRET"}' }),
    await fetch(url + '?a=QUERY-SECRET', { headers }),
    await fetch(url + '/7?a=QUERY-SECRET', { method: 'DELETE', headers }),
  ].map(({ status }) => status);
  console.log(String(statuses));
  server.close();
  server.closeAllConnections();
`;

describe('onError', () => {
  it('writes the error, the method and the path by default, and nothing that the client sent', async () => {
    const { code, stdout, stderr } = await runProgram(process.execPath, evalArgs(program));
    assert.deepEqual([stdout, code], ['503,503,503\n', 0], stderr);
    for (const secret of secrets) assert.ok(!stderr.includes(secret), `${secret} in ${stderr}`);
    for (const request of ['POST /plants', 'GET /plants', 'DELETE /plants/{id}']) {
      assert.ok(
        stderr.includes(
          `${request} failed: PlantStoreError: The storage failed. Try again shortly. (code storage_unavailable)\n`,
        ),
        stderr,
      );
    }
    assert.match(stderr, /Caused by Error: disk full\n.*Caused by Error: null value \(code 23502\)\n/s);
    assert.ok(stderr.split('\n').length < 120, stderr);
  });

  it('receives the method and the path of the OpenAPI document', async (t) => {
    const reports: unknown[] = [];
    const authenticate = (): never => {
      throw new Error('identity provider is down');
    };
    const service = await startService(t, { authenticate, onError: (...report) => reports.push(report.slice(1)) });
    const list = await service.call('GET', '/plants?a=1');
    const deletion = await service.call('DELETE', '/plants/pst_secret?a=1');
    const requestIds = [list, deletion].map(({ headers }) => headers.get('x-request-id'));
    assert.deepEqual(reports, [
      [{ requestId: requestIds[0], method: 'GET', path: '/plants' }],
      [{ requestId: requestIds[1], method: 'DELETE', path: '/plants/{id}' }],
    ]);
  });

  const failing: readonly [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('the hook is broken');
      },
    ],
    ['returns a promise that rejects', () => Promise.reject(new Error('the hook is broken'))],
  ];
  for (const [what, hook] of failing) {
    it(`is called once for an error, and does not end the process, if it ${what}`, async (t) => {
      const printed = t.mock.method(console, 'error', () => undefined);
      const storage = new MemoryStorage();
      storage.commit = () => Promise.reject(new Error('disk full'));
      let calls = 0;
      const onError = (): void => {
        calls++;
        return hook() as undefined;
      };
      const service = await startService(t, { storage, onError });
      const answered = await service.call('POST', '/plants', { body: '{"id":1,"name":"Fern"}' });
      assert.deepEqual([answered.status, calls], [503, 1]);
      await sleep(1);
      const lines = printed.mock.calls.map(({ arguments: [line] }) => String(line));
      assert.match(lines[0] ?? '', /^onError failed: Error: the hook is broken/);
      assert.match(lines[1] ?? '', /^POST \/plants failed: PlantStoreError.*Caused by Error: disk full/s);
      assert.equal((await service.call('GET', '/plants')).status, 200);
    });
  }
});
