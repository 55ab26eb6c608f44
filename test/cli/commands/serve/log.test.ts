import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueToken, revokeToken } from '../../../../src/tokens/issue.ts';
import { callService } from '../../../support/call.ts';
import { spawnCommand } from '../../../support/command-line.ts';
import { eventually } from '../../../support/eventually.ts';
import { RawConnection } from '../../../support/raw-http.ts';
import { untilListening } from '../../../support/server-process.ts';
import { execute } from '../../../support/sqlite-file.ts';
import { beginCreate, folderWithToken, startTokenServer } from '../../../support/token-server.ts';

const memory = ['--storage', 'memory'];

describe('log of plant-store serve', { concurrency: 4 }, () => {
  it('has one JSON line per response, with caller, request and result, if stderr is not a terminal', async (t) => {
    const { server, tokenId, call, create, log } = await startTokenServer(t, [...memory, '--trusted-proxies', '1']);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { 'x-request-id': 'order-7', 'x-forwarded-for': '192.0.2.1, 192.0.2.2', traceparent };
    assert.equal((await create(1)).status, 200);
    assert.equal((await call('GET', '/plants', { headers })).status, 200);
    assert.equal((await call('GET', '/nowhere')).status, 404);
    const requests = (): ReturnType<typeof log> => log().filter(({ message }) => message === 'request');
    await eventually(() => {
      assert.equal(requests().length, 3);
    });
    for (const { time, durationMs, bytes, end } of requests()) {
      assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
      assert.ok(Number(durationMs) >= 0 && Number(durationMs) < 60_000);
      assert.ok(Number(bytes) > 100);
      assert.equal(end, undefined);
    }
    const columns = (...names: string[]): unknown[][] => requests().map((line) => names.map((name) => line[name]));
    assert.deepEqual(columns('level', 'message', 'method', 'path', 'operation', 'status', 'code'), [
      ['info', 'request', 'POST', '/plants', 'createPlant', 200, undefined],
      ['info', 'request', 'GET', '/plants', 'getPlants', 200, undefined],
      ['info', 'request', 'GET', '/nowhere', undefined, 404, 'route_not_found'],
    ]);
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const who = columns('requestId', 'traceId', 'client', 'user', 'tokenId')[1];
    assert.deepEqual(who, ['order-7', trace, '192.0.2.2', 'ada', tokenId]);
    assert.equal(await server.stop(), 0);
    const { message, url, storage, version } = log()[0] ?? {};
    assert.deepEqual([message, url], ['listening', server.url]);
    assert.match(`${storage} ${version}`, /^memory.* \d+\.\d+\.\d+$/);
    const others = log().filter((line) => line['message'] !== 'request');
    assert.deepEqual(others.map((line) => line['message']).slice(1), ['SIGTERM: stopping', 'stopped']);
  });

  it('says why a token was rejected', async (t) => {
    const { tokens, token, tokenId, call, log } = await startTokenServer(t, memory);
    const expired = issueToken(tokens, { user: 'bob', expiresAt: new Date(0).toISOString() });
    assert.equal((await call('GET', '/plants')).status, 200);
    revokeToken(tokens, tokenId);
    for (const each of [token, expired.token, 'pst_0']) {
      await eventually(async () => {
        assert.equal((await call('GET', '/plants', { token: each })).status, 401);
      });
    }
    await eventually(() => {
      const found = log().flatMap(({ message, tokenId: id }) =>
        String(message).includes('rejected') ? [[message, id]] : [],
      );
      assert.deepEqual(found, [
        ['A token was rejected: revoked', tokenId],
        ['A token was rejected: expired', expired.record.id],
        ['A token was rejected: unknown', undefined],
      ]);
    });
  });

  it('contains only errors with --log-level error, with the cause and the request, on one line', async (t) => {
    const { cwd, server, create, log } = await startTokenServer(t, ['--log-level', 'error']);
    assert.equal((await create(1)).status, 200);
    execute(join(cwd, 'plants.db'), 'DROP TABLE plants');
    const failed = await create(2);
    assert.equal(failed.status, 503);
    assert.equal(await server.stop(), 0);
    const [{ time, ...entry } = {}, ...others] = log();
    const requestId = failed.headers.get('x-request-id');
    const message = 'POST /plants failed: no such table: plants';
    assert.deepEqual([typeof time, entry, others], ['string', { level: 'error', message, requestId }, []]);
  });

  it('shows clients that disconnect before the response, and clients that send input that is not HTTP', async (t) => {
    const started = await startTokenServer(t, memory);
    const { server, log } = started;
    (await beginCreate(t, started, '{"id":1}')).socket.destroy();
    await eventually(() => {
      const { method, path, end } = log().at(-1) ?? {};
      assert.deepEqual([method, path, end], ['POST', '/plants', 'incomplete']);
    });
    const garbage = await RawConnection.open(t, server.port);
    garbage.send('garbage\r\n\r\n');
    await garbage.untilClosed();
    await eventually(() => {
      const { level, message, code } = log().at(-1) ?? {};
      assert.deepEqual([level, message, code], ['info', 'refused', 'HPE_INVALID_METHOD']);
    });
  });

  it('can lose its reader without stopping the service', async (t) => {
    const { cwd, token } = await folderWithToken(t);
    const child = spawnCommand(['serve', '--port', '0', ...memory], { cwd });
    const server = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    child.stderr.destroy();
    for (let i = 0; i < 5; i++) {
      assert.equal((await callService(server.url, 'GET', '/plants', { token })).status, 200);
    }
    assert.equal(await server.stop(), 0);
  });
});

/** Request lines that contain secrets, each with the method and route that the log shows for it. */
const requestLines = (token: string): [line: string, method: string, route: string][] => [
  ['GET http://ada:sesame@localhost/plants', 'GET', '/plants'],
  [`GET http://${token}@localhost/plants?token=${token}`, 'GET', '/plants'],
  [`DELETE /plants/${token}`, 'DELETE', '/plants/{id}'],
  [`DELETE /plants/1;token=${token}`, 'DELETE', '/plants/{id}'],
  ['HEAD /openapi.json?sesame', 'HEAD', '/openapi.json'],
  ['GET /plants;token=sesame', 'GET', '/…'],
  [`POST /${token}/plants`, 'POST', '/…/plants'],
  ['GET /garden/v1/plants/1/leaves/2', 'GET', '/garden/v1/plants/1'],
  ['GET //ada:sesame@localhost/plants', 'GET', '//…/plants'],
  ['OPTIONS *', 'OPTIONS', '…'],
  ['MKCALENDAR /plants', 'MKCALENDAR', '/plants'],
];

/** Request lines that node:http rejects, or that this server does not log as requests. */
const otherLines = (token: string): string[] => [
  `CONNECT ${token}:443`,
  `SESAME /plants/${token}`,
  `GET /plants/${token} HTTP/9.9`,
  `GET sesame://${token}/plants`,
];

describe('log of plant-store serve, for requests with secrets', () => {
  it('contains the requests and a warning about a tokens file that other users can read, but no secrets', async (t) => {
    const { tokens, server, token, call, log } = await startTokenServer(t, memory);
    const send = async (line: string): Promise<void> => {
      const connection = await RawConnection.open(t, server.port);
      const version = line.includes('HTTP/') ? '' : ' HTTP/1.1';
      connection.send(`${line}${version}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      await connection.untilClosed();
    };
    const lines = requestLines(token);
    for (const [line] of lines) await send(line);
    await eventually(() => {
      const shown = log().flatMap(({ message, method, path }) => (message === 'request' ? [[method, path]] : []));
      assert.deepEqual(
        shown,
        lines.map(([, method, route]) => [method, route]),
      );
    });
    for (const line of otherLines(token)) await send(line);
    await chmod(tokens, 0o644);
    await eventually(async () => {
      assert.equal((await call('GET', '/plants')).status, 200);
      assert.ok(log().some(({ level, message }) => level === 'error' && String(message).includes('chmod 600')));
    });
    assert.equal(await server.stop(), 0);
    for (const secret of ['sesame', 'SESAME', 'pst_', token.slice(4, 20)]) {
      assert.ok(!server.stderr().includes(secret), server.stderr());
    }
  });
});
