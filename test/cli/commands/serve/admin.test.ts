import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { Agent, get as httpGet } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeToken } from '../../../../src/tokens/issue.ts';
import type { CommandContext } from '../../../support/command-line.ts';
import { eventually, eventuallyEqual } from '../../../support/eventually.ts';
import { RawConnection } from '../../../support/raw-http.ts';
import { damageFile } from '../../../support/sqlite-file.ts';
import { createAll, rowOfPlants } from '../../../support/stored-plants.ts';
import { hasProgram } from '../../../support/system-fault.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';
import { adminUrlOf, folderWithToken, startTokenServer } from '../../../support/token-server.ts';
import type { TokenFolder } from '../../../support/token-server.ts';

async function start(
  t: HasAfter,
  args: string[] = [],
  context: Partial<CommandContext> & { folder?: TokenFolder } = {},
) {
  const folder = context.folder ?? (await folderWithToken(t, 'ada-secret'));
  const started = await startTokenServer(t, ['--admin-port', '0', ...args], { ...context, folder });
  return { ...started, adminUrl: await adminUrlOf(started.server) };
}

async function get(url: string, method = 'GET'): Promise<[status: number, text: string]> {
  const response = await fetch(url, { method });
  return [response.status, await response.text()];
}

describe('admin port of plant-store serve', { concurrency: 3 }, () => {
  it('responds to requests for /live, /ready and /metrics, and to no others', async (t) => {
    const { adminUrl } = await start(t, ['--storage', 'memory']);
    assert.deepEqual(await get(`${adminUrl}/live`), [200, 'ok\n']);
    assert.deepEqual(await get(`${adminUrl}/ready?probe`), [200, 'ok\n']);
    assert.deepEqual(await get(`${adminUrl}/ready`, 'HEAD'), [200, '']);
    const index = 'The pages are /live, /ready and /metrics.\n';
    assert.deepEqual(await get(adminUrl), [200, index]);
    assert.deepEqual(await get(`${adminUrl}/plants`), [404, index]);
    const metrics = await fetch(`${adminUrl}/metrics`);
    assert.equal(metrics.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    await metrics.text();

    // Clients that do not complete their requests do not block the port.
    const stalled = await Promise.all(
      Array.from({ length: 8 }, () => RawConnection.open(t, Number(new URL(adminUrl).port))),
    );
    for (const connection of stalled) connection.send('GET /li');
    await eventuallyEqual(() => get(`${adminUrl}/live`), [200, 'ok\n'], 3000);
    assert.ok(stalled.filter(({ socket }) => !socket.destroyed).length >= 6);
  });

  it('responds while eight clients with kept-alive connections send two requests a second', async (t) => {
    const { adminUrl } = await start(t, ['--storage', 'memory']);
    const agents = Array.from({ length: 8 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    let sent = 0;
    const sending = setInterval(() => {
      const agent = agents[sent++ % agents.length];
      httpGet(`${adminUrl}/live`, { agent }, (response) => response.resume()).on('error', () => undefined);
    }, 500 / agents.length);
    t.after(() => {
      clearInterval(sending);
      for (const agent of agents) agent.destroy();
    });
    await sleep(700);

    for (let n = 0; n < 20; n++) {
      assert.deepEqual(await get(`${adminUrl}/live`), [200, 'ok\n']);
      await sleep(100);
    }
  });

  it('counts requests, commits and connections, without showing users, tokens or paths', async (t) => {
    const { server, token, call, create, adminUrl } = await start(t);
    for (const id of [1, 1]) await create(id);
    for (const target of ['/plants', '/secret-path']) await call('GET', target);
    const [, text] = await get(`${adminUrl}/metrics`);
    for (const line of [
      'plant_store_http_requests_total{operation="createPlant",status="200"} 1',
      'plant_store_http_requests_total{operation="createPlant",status="400",code="id_taken"} 1',
      'plant_store_http_requests_total{operation="getPlants",status="200"} 1',
      'plant_store_http_requests_total{operation="none",status="404",code="route_not_found"} 1',
      'plant_store_http_request_duration_seconds_count{operation="createPlant"} 2',
      'plant_store_commit_duration_seconds_bucket{le="10"} 2',
      'plant_store_commit_duration_seconds_bucket{le="+Inf"} 2',
      'plant_store_storage_up 1',
      'plant_store_storage_full 0',
    ]) {
      assert.ok(text.includes(`\n${line}\n`), `${line} is not in ${text}`);
    }
    for (const secret of ['ada-secret', 'secret-path', 'pst_', token]) assert.ok(!text.includes(secret));
    assert.equal(await server.stop(), 0);
    if (!hasProgram(t, 'promtool')) return;
    const { status, stderr: problems } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    assert.deepEqual([status, problems], [0, '']);
  });

  it('is not ready if the database file was removed: writes fail, plants are still listed, and the log says why', async (t) => {
    const { cwd, server, create, call, log, adminUrl } = await start(t);
    assert.equal((await create(1)).status, 200);
    for (const ending of ['', '-wal', '-shm']) await rm(join(cwd, `plants.db${ending}`));
    const failed = await create(2);
    assert.deepEqual([failed.status, failed.error], [503, 50301]);
    assert.match((await get(`${adminUrl}/metrics`))[1], /,code="storage_unavailable"\} 1$/m);
    // The result of the check on startup is reused for a second.
    const ready = await eventually(async () => {
      const [status, text] = await get(`${adminUrl}/ready`);
      assert.equal(status, 503);
      return text;
    });
    assert.match(ready, /^The storage does not work: .*was removed or replaced/);
    assert.match((await call('GET', '/plants')).text, /^\[\{"name":"plant 1"\}/);
    assert.equal(await server.stop(), 0);
    assert.ok(log().some(({ message }) => String(message).includes('was removed or replaced')));
    assert.deepEqual((await readdir(cwd)).sort(), ['tokens.json']);
  });

  it('reports a list that damage cuts off as incomplete, and is not ready until a restart', async (t) => {
    const folder = await folderWithToken(t);
    const file = join(folder.cwd, 'plants.db');
    await createAll(file, rowOfPlants('ada', 3000));
    damageFile(file, 20);
    const { server, call, log, adminUrl } = await start(t, [], { folder });

    await assert.rejects(call('GET', '/plants'));

    const [, metrics] = await get(`${adminUrl}/metrics`);
    assert.match(
      metrics,
      /^plant_store_http_requests_total\{operation="getPlants",status="200",code="incomplete"\} 1$/m,
    );
    await eventuallyEqual(
      () => get(`${adminUrl}/ready`),
      [
        503,
        'The storage does not work: The database file is damaged or cannot be read. (database disk image is malformed)\n',
      ],
    );
    assert.equal(await server.stop(), 0);
    const entry = log().find(({ message }) => message === 'request');
    assert.partialDeepStrictEqual(entry, { level: 'error', status: 200, code: 'incomplete', end: 'incomplete' });
  });

  it('responds when the public port has the maximum number of connections, while new clients are served', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const { server, adminUrl, create, call, tokens, tokenId } = await start(t, [], { maxOpenFiles: 128 });
    // Each connection sends an incomplete header, so that the server does not close the connection as idle.
    const connections: RawConnection[] = [];
    for (let n = 0; n < 200; n++) {
      connections.push(await RawConnection.open(t, server.port, 'GET /plants HTTP/1.1\r\n'));
    }
    const metrics = await eventually(async () => {
      const [, text] = await get(`${adminUrl}/metrics`);
      assert.match(text, /^plant_store_http_open_connections 6\d$/m);
      return text;
    });
    assert.match(metrics, /^plant_store_http_max_connections 64$/m);
    assert.deepEqual(await get(`${adminUrl}/ready`), [200, 'ok\n']);
    await eventuallyEqual(async () => (await create(1)).status, 200);
    assert.ok(await revokeToken(tokens, tokenId));
    await eventuallyEqual(async () => (await call('GET', '/plants')).status, 401);
    // The server would wait eight seconds for the rest of the headers.
    for (const { socket } of connections) socket.destroy();
    assert.equal(await server.stop(), 0);
    assert.match(server.stderr(), /at most 64 connections/);
    assert.doesNotMatch(server.stderr(), /EMFILE|cannot be used/);
  });
});
