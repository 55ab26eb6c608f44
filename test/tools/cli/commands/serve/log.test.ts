import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callService } from '../../../../support/call.ts';
import { spawnCommand } from '../../../../support/command-line.ts';
import { eventually } from '../../../../support/eventually.ts';
import { RawConnection } from '../../../../support/raw-http.ts';
import { untilListening } from '../../../../support/server-process.ts';
import { execute } from '../../../../support/sqlite-file.ts';
import { beginCreate, folderWithToken, startTokenServer } from '../../../../support/token-server.ts';

const memory = ['--storage', 'memory'];

describe('log of plant-store serve', { concurrency: 4 }, () => {
  it('has one JSON line per response, with caller, request and result, if stderr is not a terminal', async (t) => {
    const { server, tokenId, call, create, log } = await startTokenServer(t, [...memory, '--trusted-proxies', '1']);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { 'x-request-id': 'order-7', 'x-forwarded-for': '192.0.2.1, 192.0.2.2', traceparent };
    assert.equal((await create(1)).status, 200);
    assert.equal((await call('GET', '/plants', { headers })).status, 200);
    assert.equal((await call('GET', '/nowhere')).status, 404);
    await eventually(() => {
      assert.equal(log().length, 3);
    });
    for (const { time, durationMs, bytes, end } of log()) {
      assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
      assert.ok(Number(durationMs) >= 0 && Number(durationMs) < 60_000);
      assert.ok(Number(bytes) > 100);
      assert.equal(end, undefined);
    }
    const columns = (...names: string[]): unknown[][] => log().map((line) => names.map((name) => line[name]));
    assert.deepEqual(columns('level', 'message', 'method', 'path', 'operation', 'status', 'code'), [
      ['info', 'request', 'POST', '/plants', 'createPlant', 200, undefined],
      ['info', 'request', 'GET', '/plants', 'getPlants', 200, undefined],
      ['info', 'request', 'GET', '', undefined, 404, 'route_not_found'],
    ]);
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const who = columns('requestId', 'traceId', 'client', 'user', 'tokenId')[1];
    assert.deepEqual(who, ['order-7', trace, '192.0.2.2', 'ada', tokenId]);
    assert.equal(await server.stop(), 0);
    assert.equal(log().at(-1)?.['message'], 'SIGTERM: stopping');
  });

  it('shows clients that disconnect before the response, and clients that send input that is not HTTP', async (t) => {
    const started = await startTokenServer(t, memory);
    const { server, log } = started;
    (await beginCreate(t, started, '{"id":1}')).socket.destroy();
    await eventually(() => {
      assert.deepEqual(
        log().map(({ method, path, end }) => [method, path, end]),
        [['POST', '/plants', 'incomplete']],
      );
    });
    const garbage = await RawConnection.open(t, server.port);
    garbage.send('garbage\r\n\r\n');
    await garbage.untilClosed();
    await eventually(() => {
      const { level, message, code } = log()[1] ?? {};
      assert.deepEqual([level, message, code], ['info', 'refused', 'HPE_INVALID_METHOD']);
    });
  });

  it('shows server faults with their causes', async (t) => {
    const { cwd, create, log } = await startTokenServer(t, []);
    execute(join(cwd, 'plants.db'), 'DROP TABLE plants');
    assert.equal((await create(1)).status, 503);
    // The storage probe may log the same fault.
    const request = await eventually(() => log().find(({ message }) => message === 'request') ?? assert.fail());
    const fault = log().find(({ message }) => message === 'POST /plants failed: no such table: plants');
    assert.match(
      String(fault?.['error']),
      /^PlantStoreError: .*Caused by Error: no such table: plants \(code ERR_SQLITE/s,
    );
    assert.deepEqual([request['requestId'], request['code']], [fault?.['requestId'], 'storage_unavailable']);
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
  ['GET /plants;token=sesame', 'GET', ''],
  [`POST /${token}/plants`, 'POST', ''],
  ['GET //ada:sesame@localhost/plants', 'GET', ''],
  ['OPTIONS *', 'OPTIONS', ''],
  ['MKCALENDAR /plants', 'other', '/plants'],
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
      const shown = log().map(({ method, path }) => [method, path]);
      assert.deepEqual(
        shown,
        lines.map(([, method, route]) => [method, route]),
      );
    });
    for (const line of otherLines(token)) await send(line);
    await chmod(tokens, 0o644);
    const warning = 'tokens.json can be accessed by other users of this machine: change its permissions (chmod 600).';
    await eventually(async () => {
      assert.equal((await call('GET', '/plants')).status, 200);
      assert.ok(log().some(({ level, message }) => level === 'error' && message === warning));
    });
    assert.equal(await server.stop(), 0);
    for (const secret of ['sesame', 'SESAME', 'pst_', token.slice(4, 20)]) {
      assert.ok(!server.stderr().includes(secret), server.stderr());
    }
  });
});
