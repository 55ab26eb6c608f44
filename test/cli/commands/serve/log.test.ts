import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { after, it } from 'node:test';
import { callService } from '../../../support/call.ts';
import { spawnCommand } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { exchange } from '../../../support/raw-http.ts';
import { untilListening } from '../../../support/server-process.ts';
import { execute } from '../../../support/sqlite-file.ts';
import { startTokenServer } from '../../../support/token-server.ts';

/** Request lines that contain secrets. node:http rejects some of them. */
const linesWith = (token: string): string[] => [
  'GET http://ada:sesame@localhost/plants HTTP/1.1',
  `GET http://${token}@localhost/plants?token=${token} HTTP/1.1`,
  `DELETE /plants/1;token=${token} HTTP/1.1`,
  `POST /${token}/plants HTTP/1.1`,
  'GET //ada:sesame@localhost/plants HTTP/1.1',
  'MKCALENDAR /plants?sesame HTTP/1.1',
  `CONNECT ${token}:443 HTTP/1.1`,
  `SESAME /plants/${token} HTTP/1.1`,
  `GET /plants/${token} HTTP/9.9`,
];

const memory = ['--storage', 'memory'];
const started = await startTokenServer({ after }, [...memory, '--trusted-proxies', '1']);
const { server, call, create, log } = started;

it('log of plant-store serve › has one JSON line per response, with caller, request and result', async () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const headers = { 'x-request-id': 'order-7', 'x-forwarded-for': '192.0.2.1, 192.0.2.2', traceparent };
  for (const status of [200, 400]) assert.equal((await create(1)).status, status);
  assert.equal((await call('GET', '/nowhere', { headers })).status, 404);
  const rejected = await call('GET', '/plants', { token: 'unknown' });
  const entries = await eventually(() => {
    assert.equal(log().length, 5);
    return log();
  });
  const [listening, created, taken, unknown, unauthorized] = entries;
  assert.partialDeepStrictEqual(listening, { message: 'listening', url: server.url });
  assert.partialDeepStrictEqual(created, { method: 'POST', path: '/plants', operation: 'createPlant', status: 200 });
  assert.partialDeepStrictEqual(taken, {
    client: '127.0.0.1',
    user: 'ada',
    tokenId: started.tokenId,
    code: 'id_taken',
  });
  const { time, durationMs, ...rest } = unknown ?? {};
  assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
  assert.ok(Number(durationMs) >= 0);
  const result = { method: 'GET', path: '/nowhere', status: 404, code: 'route_not_found' };
  const client = { requestId: 'order-7', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', client: '192.0.2.2' };
  assert.deepEqual(rest, { level: 'info', message: 'request', ...client, ...result });
  const requestId = rejected.headers.get('x-request-id') ?? '';
  assert.partialDeepStrictEqual(unauthorized, { status: 401, code: 'invalid_token', client: '127.0.0.1', requestId });
});

it('log of plant-store serve › has requests, warns if others can read the tokens file, has no secrets', async (t) => {
  const { token } = started;
  for (const line of linesWith(token)) {
    await exchange(t, server.port, `${line}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  }
  await chmod(started.tokens, 0o644);
  await eventually(async () => {
    assert.equal((await call('GET', '/plants')).status, 200);
    assert.ok(log().some(({ level, message }) => level === 'error' && String(message).includes('chmod 600')));
  });
  for (const expected of ['request', 'refused']) assert.ok(log().some(({ message }) => message === expected));
  for (const secret of ['sesame', 'SESAME', 'pst_', token.slice(4, 20)]) {
    assert.ok(!server.stderr().includes(secret), server.stderr());
  }
});

it('log of plant-store serve --log-level error › has only errors', async (t) => {
  const failing = await startTokenServer(t, ['--log-level', 'error']);
  assert.equal((await failing.create(1)).status, 200);
  const file = join(failing.cwd, 'plants.db');
  execute(file, 'DROP TABLE plants');
  const failed = await failing.create(2);
  assert.equal(failed.status, 503);
  assert.equal(await failing.server.stop(), 0);
  const [{ time, ...entry } = {}, ...others] = failing.log();
  const requestId = failed.headers.get('x-request-id');
  const message = 'POST /plants failed: no such table: plants';
  assert.deepEqual([typeof time, entry, others], ['string', { level: 'error', message, requestId }, []]);
});

it('log of plant-store serve › can lose its reader without stopping the service', async (t) => {
  const { cwd, token } = started;
  const child = spawnCommand(['serve', '--port', '0', ...memory], { cwd });
  const unread = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
  child.stderr.destroy();
  for (let i = 0; i < 5; i++) assert.equal((await callService(unread.url, 'GET', '/plants', { token })).status, 200);
  assert.equal(await unread.stop(), 0);
});
