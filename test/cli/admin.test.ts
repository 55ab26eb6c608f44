import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdminServer, Readiness } from '../../src/cli/admin.ts';
import { Log } from '../../src/cli/log.ts';
import { revokeToken } from '../../src/tokens/issue.ts';
import { eventually, eventuallyEqual } from '../support/eventually.ts';
import { Hold, HookedStorage } from '../support/hooked-storage.ts';
import { listen } from '../support/listen.ts';
import { RawConnection } from '../support/raw-http.ts';
import { hasProgram } from '../support/system-fault.ts';
import { adminUrlOf, folderWithToken, startTokenServer } from '../support/token-server.ts';

async function get(url: string, method = 'GET'): Promise<[status: number, text: string]> {
  const response = await fetch(url, { method });
  return [response.status, await response.text()];
}

it('admin port › serves /live, /ready and /metrics, even if 40 connections are idle', async (t) => {
  const readiness = new Readiness(new HookedStorage(), new Log('json', 'error', () => undefined));
  readiness.isServing = true;
  const grants = { problem: '', refusesAll: false };
  const port = await listen(t, createAdminServer(createServer(), readiness, grants));
  const url = `http://127.0.0.1:${port}`;
  await Promise.all(Array.from({ length: 40 }, () => RawConnection.open(t, port)));
  assert.deepEqual(await get(`${url}/live`), [200, 'ok\n']);
  assert.deepEqual(await get(`${url}/ready?probe`), [200, 'ok\n']);
  assert.deepEqual(await get(`${url}/ready`, 'HEAD'), [200, '']);
  const index = 'The pages are /live, /ready and /metrics.\n';
  assert.deepEqual(await get(url), [200, index]);
  assert.deepEqual(await get(`${url}/plants`), [404, index]);
  for (const durationMs of [5, 6, 20_000]) channel('tracing:plant-store:commit:asyncEnd').publish({ durationMs });
  const response = await fetch(`${url}/metrics`);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  // Keep-alive connections would reach the limit. The server could then evict one that a client is about to use.
  assert.equal(response.headers.get('connection'), 'close');
  const text = await response.text();
  // The alert rules read the buckets, whose upper bounds are inclusive.
  const buckets = ['bucket{le="0.005"} 1', 'bucket{le="0.01"} 2', 'bucket{le="10"} 2', 'bucket{le="+Inf"} 3'];
  for (const sample of [...buckets, 'sum{} 20.011', 'count{} 3']) {
    assert.ok(text.includes(`\nplant_store_commit_duration_seconds_${sample}\n`), text);
  }

  // /ready returns 200 only while the server serves requests and accepts tokens.
  grants.problem = 'The file is invalid.';
  assert.equal((await get(`${url}/ready`))[0], 200);
  assert.match((await get(`${url}/metrics`))[1], /^plant_store_tokens_up 0$/m);
  grants.refusesAll = true;
  assert.deepEqual(await get(`${url}/ready`), [503, 'The file is invalid.\n']);
  grants.refusesAll = false;
  readiness.isServing = false;
  assert.equal((await get(`${url}/ready`))[0], 503);
});

it('admin port of serve › counts requests without secrets, and is not ready if the database was removed', async (t) => {
  const folder = await folderWithToken(t, 'ada-secret');
  const { cwd, tokens } = folder;
  const { server, token, call, create, log } = await startTokenServer(t, ['--admin-port', '0'], { folder });
  const adminUrl = await adminUrlOf(server);
  for (const id of [1, 1]) await create(id);
  for (const target of ['/plants', '/secret-path']) await call('GET', target);
  const [, text] = await get(`${adminUrl}/metrics`);
  for (const line of [
    'plant_store_http_requests_total{operation="createPlant",status="200"} 1',
    'plant_store_http_requests_total{operation="createPlant",status="400",code="id_taken"} 1',
    'plant_store_http_requests_total{operation="createPlant",status="503",code="storage_unavailable"} 0',
    'plant_store_http_requests_total{operation="none",status="404",code="route_not_found"} 1',
    'plant_store_http_request_duration_seconds_count{operation="createPlant"} 2',
    'plant_store_commit_duration_seconds_bucket{le="+Inf"} 2',
    'plant_store_http_requests_total{operation="deletePlant",status="204"} 0',
    'plant_store_http_requests_total{operation="getPlants",status="200",code="incomplete"} 0',
    'plant_store_storage_up 1',
    'plant_store_tokens_up 1',
  ]) {
    assert.ok(text.includes(`\n${line}\n`), `${line} is not in ${text}`);
  }
  assert.match(text, /^plant_store_build_info\{version="[^"]+",commit="[^"]*",node="[^"]+"\} 1$/m);
  assert.match(text, /^process_start_time_seconds \d{10}\.\d+$/m);
  for (const secret of ['ada-secret', 'secret-path', 'pst_', token]) assert.ok(!text.includes(secret));

  // The server notices a change of the tokens file without a request.
  const valid = await readFile(tokens);
  for (const { content, entry } of [
    { content: '{', entry: /^error: .*is not JSON.*The last valid tokens stay in force/ },
    { content: valid, entry: /^info: .*is valid again/ },
  ]) {
    await writeFile(tokens, content);
    await eventually(() => {
      const { level, message } = log().at(-1) ?? {};
      assert.match([level, message].join(': '), entry);
    });
  }

  for (const ending of ['', '-wal', '-shm']) await rm(join(cwd, `plants.db${ending}`));
  const failed = await create(2);
  assert.deepEqual([failed.status, failed.error], [503, 50301]);
  assert.match((await get(`${adminUrl}/metrics`))[1], /,code="storage_unavailable"\} 1$/m);
  // The result of the previous check is reused for a second.
  await eventually(async () => {
    const [status, reason] = await get(`${adminUrl}/ready`);
    assert.equal(status, 503);
    assert.match(reason, /^The storage does not work: .*was removed or replaced/);
  });
  assert.match((await call('GET', '/plants')).text, /^\[\{"name":"plant 1"\}/);
  assert.equal(await server.stop(), 0);
  assert.ok(log().some(({ message }) => String(message).includes('was removed or replaced')));
  assert.deepEqual(await readdir(cwd), ['tokens.json']);

  if (!hasProgram(t, 'promtool')) return;
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.deepEqual([checked.status, checked.stderr], [0, '']);
});

it('serve at its connection limit › responds on the admin port, and serves new clients', async (t) => {
  if (!hasProgram(t, 'prlimit')) return;
  const started = await startTokenServer(t, ['--admin-port', '0'], { wrapper: ['prlimit', '--nofile=160:160'] });
  const { server, create, call, tokens, tokenId } = started;
  const adminUrl = await adminUrlOf(server);
  await Promise.all(Array.from({ length: 200 }, () => RawConnection.open(t, server.port)));
  await eventually(async () => {
    const [, text] = await get(`${adminUrl}/metrics`);
    assert.match(text, /^plant_store_http_open_connections 6\d$/m);
    assert.match(text, /^plant_store_http_max_connections 64$/m);
  });
  // On a slow machine, a check of the storage may take more than a second.
  await eventuallyEqual(() => get(`${adminUrl}/ready`), [200, 'ok\n']);
  await eventuallyEqual(async () => (await create(1)).status, 200);
  assert.ok(await revokeToken(tokens, tokenId));
  await eventuallyEqual(async () => (await call('GET', '/plants')).status, 401);
  assert.equal(await server.stop(), 0);
  assert.match(server.stderr(), /at most 64 connections/);
  assert.doesNotMatch(server.stderr(), /EMFILE|cannot be used/);
});

it('Readiness › runs one check at a time, waits a second for its result, and logs that it took longer', async (t) => {
  const held = new Hold();
  const storage = new HookedStorage();
  storage.beforeCommit = held.hook;
  const commits = t.mock.method(storage, 'commit').mock;
  const messages: unknown[] = [];
  const log = new Log('json', 'info', (text) => messages.push((JSON.parse(text) as { message: unknown }).message));
  const readiness = new Readiness(storage, log);
  readiness.isServing = true;
  const late = 'It did not respond within a second.';
  for (let n = 0; n < 2; n++) {
    // The sleep keeps the process running, because the timers of a Readiness do not.
    const [first, second] = await Promise.all([readiness.storageProblem(), readiness.storageProblem(), sleep(1100)]);
    assert.deepEqual([first, second], [late, late]);
    assert.deepEqual(messages, [`The storage does not work: ${late}`]);
  }
  assert.equal(commits.callCount(), 1);
  held.release();
  await eventuallyEqual(() => readiness.storageProblem(), '');
  assert.deepEqual(messages.slice(1), ['The storage works again.']);
});
