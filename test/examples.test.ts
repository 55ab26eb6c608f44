import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { eventuallyEqual } from './support/eventually.ts';
import { PostgresCluster } from './support/postgres.ts';
import { assertTestsPassed, runSuccessfully } from './support/run-program.ts';
import type { ServerProcess } from './support/server-process.ts';
import { untilListening } from './support/server-process.ts';
import { root } from './support/sources.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import type { HasAfter } from './support/temporary-folder.ts';

const examples = join(root, 'examples');
const tested = [
  'embed.ts',
  'health-and-metrics.ts',
  'mount.ts',
  'own-adapter.test.ts',
  'own-adapter.ts',
  'serve-postgres.ts',
  'serve-sqlite.ts',
];

/** Starts an example that is a server. */
function startExample(t: HasAfter, args: string[], env: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return untilListening(t, child, /port: (\d+)/);
}

const call = async (url: string, token: string, body?: string): Promise<unknown> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) })).json();
};

describe('examples', () => {
  it('are all tested here, and have at most 50 lines each', async () => {
    const found = (await readdir(examples)).filter((name) => name.endsWith('.ts'));
    assert.deepEqual(found.sort(), tested);
    for (const name of tested) {
      const lines = (await readFile(join(examples, name), 'utf8')).split('\n').length;
      assert.ok(lines <= 50, `${name} has ${lines} lines`);
    }
  });

  it('embed: keeps its plant between runs', async (t) => {
    const folder = await temporaryFolder(t);
    const args = [join(examples, 'embed.ts'), 'plants.db'];
    assert.equal(await runSuccessfully(process.execPath, args, { cwd: folder }), '9007199254740993 Fern (indoor)\n');
    assert.equal(await runSuccessfully(process.execPath, args, { cwd: folder }), '9007199254740993 Fern (indoor)\n');
  });

  it('serve-sqlite: serves plants, keeps them across a restart, and stops on SIGTERM', async (t) => {
    const args = [join(examples, 'serve-sqlite.ts'), join(await temporaryFolder(t), 'plants.db')];
    const env = { ADAS_TOKEN: 'secret' };
    const first = await startExample(t, args, env);
    assert.deepEqual(await call(`${first.url}/plants`, 'secret', '{"id":1,"name":"Fern"}'), { name: 'Fern' });
    assert.equal(await first.stop(), 0);
    const second = await startExample(t, args, env);
    assert.deepEqual(await call(`${second.url}/plants`, 'secret'), [{ name: 'Fern' }]);
    assert.equal(await second.stop(), 0);
  });

  it('serve-postgres: serves the same plants from two processes, which stop on SIGTERM', async (t) => {
    const cluster = await PostgresCluster.start();
    t.after(() => cluster.remove());
    const env = { ADAS_TOKEN: 'secret', DATABASE_URL: cluster.url() };
    const args = [join(examples, 'serve-postgres.ts')];
    const services = [await startExample(t, args, env), await startExample(t, args, env)];
    for (const [id, { url }] of services.entries()) {
      assert.deepEqual(await call(`${url}/plants`, 'secret', `{"id":${id},"name":"Fern ${id}"}`), {
        name: `Fern ${id}`,
      });
    }
    for (const { url, stop } of services) {
      assert.deepEqual(await call(`${url}/plants`, 'secret'), [{ name: 'Fern 0' }, { name: 'Fern 1' }]);
      assert.equal(await stop(), 0);
    }
  });

  it('mount: serves plants under a prefix, beside the routes of the app', async (t) => {
    const { url, stop } = await startExample(t, [join(examples, 'mount.ts')], {});
    assert.deepEqual(await call(`${url}/garden/plants`, 'adas-token', '{"id":1,"name":"Fern"}'), { name: 'Fern' });
    assert.deepEqual(await call(`${url}/garden/plants`, 'adas-token'), [{ name: 'Fern' }]);
    const headers = { authorization: 'Bearer adas-token' };
    await call(`${url}/garden/plants`, 'adas-token', '{"id":2,"name":"Moss"}');
    const page = await fetch(`${url}/garden/plants?limit=1`, { headers });
    assert.equal(page.headers.get('link'), '</garden/plants?limit=1&after=1>; rel="next"');
    await page.text();
    assert.equal(await (await fetch(`${url}/other`)).text(), 'the app itself\n');
    assert.equal(await stop(), 0);
  });

  it('health-and-metrics: reports requests, commits and a storage failure', async (t) => {
    const file = join(await temporaryFolder(t), 'plants.db');
    const args = [join(examples, 'health-and-metrics.ts'), file];
    const { url, stdout } = await startExample(t, args, { ADMIN_PORT: '0', ADAS_TOKEN: 'secret' });
    await eventuallyEqual(() => stdout().match(/port: \d+/g)?.length, 2);
    const [, adminPort = ''] = /and .*port: (\d+)/s.exec(stdout()) ?? [];
    const admin = `http://127.0.0.1:${adminPort}`;
    assert.equal((await fetch(`${admin}/ready`)).status, 200);
    assert.deepEqual(await call(`${url}/plants`, 'secret', '{"id":1,"name":"Fern"}'), { name: 'Fern' });
    const metrics = (await (await fetch(`${admin}/metrics`)).text()).split('\n');
    for (const line of [
      'plants_requests_total{operation="createPlant",status="200"} 1',
      'plants_commits_total{error="none"} 2',
      'plants_writes_total 2',
      'plants_pending_writes 0',
    ]) {
      assert.ok(metrics.includes(line), line);
    }
    await rm(file);
    assert.equal((await fetch(`${admin}/ready`)).status, 503);
    assert.match(
      await (await fetch(`${admin}/metrics`)).text(),
      /^plants_commits_total\{error="storage_unavailable"\} 1$/m,
    );
  });

  it('own-adapter: passes the suite for storage adapters', async (t) => {
    const folder = await temporaryFolder(t);
    const args = ['--test', join(examples, 'own-adapter.test.ts')];
    assertTestsPassed(await runSuccessfully(process.execPath, args, { cwd: folder }));
  });
});
