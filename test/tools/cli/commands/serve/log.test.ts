import assert from 'node:assert/strict';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueToken } from '../../../../../src/tokens/issue.ts';
import { callService } from '../../../../support/call.ts';
import type { Call } from '../../../../support/call.ts';
import { spawnCommand, startServer } from '../../../../support/command-line.ts';
import { eventually } from '../../../../support/eventually.ts';
import { RawConnection } from '../../../../support/raw-http.ts';
import type { ServerProcess } from '../../../../support/server-process.ts';
import { untilListening } from '../../../../support/server-process.ts';
import { execute } from '../../../../support/sqlite-file.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../../support/temporary-folder.ts';

interface Started {
  readonly server: ServerProcess;
  readonly cwd: string;
  readonly token: string;
  readonly tokenId: string;
  readonly get: (target: string, headers?: Record<string, string>) => Promise<number>;
  readonly post: () => Promise<number>;
}

async function makeTokens(t: HasAfter): Promise<{ cwd: string; token: string; tokenId: string }> {
  const cwd = await temporaryFolder(t);
  const { token, record } = issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
  return { cwd, token, tokenId: record.id };
}

async function start(t: HasAfter, ...args: string[]): Promise<Started> {
  const { cwd, token, tokenId } = await makeTokens(t);
  const server = await startServer(t, args, { cwd });
  const call = async (method: string, target: string, options: Call = {}): Promise<number> =>
    (await callService(server.url, method, target, { token, ...options })).status;
  return {
    server,
    cwd,
    token,
    tokenId,
    get: (target, headers = {}) => call('GET', target, { headers }),
    post: () => call('POST', '/plants', { body: '{"id":1,"name":"Basil"}' }),
  };
}

type Line = Record<string, string | number>;

/** Parses the lines of a JSON log. */
function linesOf(server: ServerProcess): Line[] {
  const lines = server.stderr().split('\n');
  assert.equal(lines.pop(), '');
  return lines.map((line) => JSON.parse(line) as Line);
}

describe('log of plant-store serve', { concurrency: 4 }, () => {
  it('has one line of JSON per response, without token and query, if standard error is not a terminal', async (t) => {
    const { server, token, get, post } = await start(t, '--storage', 'memory');
    assert.equal(await post(), 200);
    assert.equal(await get(`/plants?limit=1&access_token=${token}`), 200);
    assert.equal(await get(`/nowhere/${'x'.repeat(1000)}?secret`), 404);
    await eventually(() => {
      assert.equal(linesOf(server).length, 3);
    });
    const lines = linesOf(server);
    for (const { time, durationMs, bytes, end } of lines) {
      assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
      assert.ok(Number(durationMs) >= 0 && Number(durationMs) < 60_000);
      assert.ok(Number(bytes) > 100);
      assert.equal(end, undefined);
    }
    const names = ['level', 'message', 'method', 'path', 'operation', 'status', 'code'];
    const facts = lines.map((line) => names.map((name) => line[name]));
    assert.deepEqual(facts, [
      ['info', 'request', 'POST', '/plants', 'createPlant', 200, undefined],
      ['info', 'request', 'GET', '/plants', 'getPlants', 200, undefined],
      ['info', 'request', 'GET', '', undefined, 404, 'route_not_found'],
    ]);
    assert.equal(await server.stop(), 0);
    assert.equal(linesOf(server).at(-1)?.['message'], 'SIGTERM: stopping');
    for (const secret of [token, token.slice(4, 34), 'limit', 'secret']) assert.ok(!server.stderr().includes(secret));
  });

  it('shows who sent a request, by which token, from where, and in which trace', async (t) => {
    const { server, tokenId, get } = await start(t, '--storage', 'memory', '--trusted-proxies', '1');
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const headers = { 'x-request-id': 'order-7', 'x-forwarded-for': '192.0.2.1, 192.0.2.2', traceparent };
    assert.equal(await get('/plants', headers), 200);
    await eventually(() => {
      assert.equal(linesOf(server).length, 1);
    });
    const [line = {}] = linesOf(server);
    const { requestId, traceId, client, user, tokenId: loggedId } = line;
    assert.deepEqual(
      { requestId, traceId, client, user, tokenId: loggedId },
      {
        requestId: 'order-7',
        traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
        client: '192.0.2.2',
        user: 'ada',
        tokenId,
      },
    );
  });

  it('shows that a client disconnected before its response', async (t) => {
    const { server, token } = await start(t, '--storage', 'memory', '--log', 'json');
    const connection = await RawConnection.open(t, server.port);
    const head = ['POST /plants HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`];
    const type = 'Content-Type: application/json';
    connection.send([...head, type, 'Expect: 100-continue', 'Content-Length: 9', '', ''].join('\r\n'));
    await connection.until(/100 Continue/);
    connection.socket.destroy();
    await eventually(() => {
      assert.equal(linesOf(server).length, 1);
    });
    const [line = {}] = linesOf(server);
    const { method, path, end } = line;
    assert.deepEqual([method, path, end], ['POST', '/plants', 'incomplete']);
    assert.equal(await server.stop(), 0);
  });

  it('shows that input was rejected because it is not HTTP', async (t) => {
    const { server } = await start(t, '--storage', 'memory', '--log', 'json');
    const connection = await RawConnection.open(t, server.port);
    connection.send('garbage\r\n\r\n');
    await connection.untilClosed();
    await eventually(() => {
      assert.deepEqual(
        linesOf(server).map(({ level, message, code }) => [level, message, code]),
        [['info', 'refused', 'HPE_INVALID_METHOD']],
      );
    });
  });

  it('shows server faults with their causes', async (t) => {
    const { server, cwd, token, post } = await start(t, '--log', 'json');
    execute(join(cwd, 'plants.db'), 'DROP TABLE plants');
    assert.equal(await post(), 503);
    // The probe of the storage may log the same fault.
    await eventually(() => {
      assert.ok(linesOf(server).some(({ message }) => message === 'request'));
    });
    const fault = linesOf(server).find(({ message }) => message === 'POST /plants failed');
    assert.ok(fault);
    const stacks =
      /^PlantStoreError: .*\n +at .*Caused by Error: no such table: plants \(code ERR_SQLITE_ERROR, errcode 1\)\n +at /s;
    assert.match(String(fault['error']), stacks);
    const request = linesOf(server).find(({ message }) => message === 'request');
    assert.deepEqual([request?.['requestId'], request?.['code']], [fault['requestId'], 'storage_unavailable']);
    assert.equal(await server.stop(), 0);
    assert.ok(!server.stderr().includes(token));
  });

  it('shows warnings about the tokens file', async (t) => {
    const { server, cwd, get } = await start(t, '--storage', 'memory', '--log', 'json');
    await chmod(join(cwd, 'tokens.json'), 0o644);
    const warning = 'tokens.json can be accessed by other users of this machine: change its permissions (chmod 600).';
    await eventually(async () => {
      await get('/plants');
      assert.ok(linesOf(server).some(({ level, message }) => level === 'error' && message === warning));
    });
  });

  it('is readable with --log pretty', async (t) => {
    const { server, cwd, token, get } = await start(t, '--storage', 'memory', '--log', 'pretty');
    await chmod(join(cwd, 'tokens.json'), 0o644);
    await eventually(async () => {
      assert.equal(await get(`/plants?access_token=${token}`), 200);
      assert.match(server.stderr(), /^\d\d:\d\d:\d\d ERROR tokens\.json can be accessed by other users/m);
    });
    assert.equal(await server.stop(), 0);
    assert.match(server.stderr(), /^\d\d:\d\d:\d\d GET \/plants 200 [\d.]+ ms ada [\w-]+\n/m);
    assert.match(server.stderr(), /^\d\d:\d\d:\d\d SIGTERM: stopping\n$/m);
    assert.ok(!server.stderr().includes(token));
  });

  it('is empty with --log off', async (t) => {
    const { server, cwd, get } = await start(t, '--storage', 'memory', '--log', 'off');
    await chmod(join(cwd, 'tokens.json'), 0o644);
    assert.equal(await get('/plants'), 200);
    assert.equal(await server.stop(), 0);
    assert.equal(server.stderr(), '');
  });

  it('may lose its reader without stopping the service', async (t) => {
    const { cwd, token } = await makeTokens(t);
    const child = spawnCommand(['serve', '--port', '0', '--storage', 'memory', '--log', 'json'], { cwd });
    const server = await untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    child.stderr.destroy();
    for (let i = 0; i < 5; i++) {
      assert.equal((await callService(server.url, 'GET', '/plants', { token })).status, 200);
    }
    assert.equal(await server.stop(), 0);
  });
});
