import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startProgram } from './frameworks/program.ts';
import { eventuallyEqual } from './support/eventually.ts';
import { PostgresCluster } from './support/postgres.ts';
import { assertTestsPassed, runSuccessfully } from './support/run-program.ts';
import type { ServerProcess } from './support/server-process.ts';
import { root } from './support/sources.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import type { HasAfter } from './support/temporary-folder.ts';

const pathOf = (name: string): string => join(root, 'examples', name);

/** Starts an example that is a server. Its only token is `secret`. */
function startExample(t: HasAfter, args: string[], env: Record<string, string> = {}): Promise<ServerProcess> {
  return startProgram(t, [process.execPath, ...args], root, { ADMIN_PORT: '0', ...env });
}

async function call(url: string, body?: string, token = 'secret'): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) });
  return `${response.headers.get('link') ?? ''}${await response.text()}`;
}

describe('examples', { concurrency: 3 }, () => {
  it('examples/embed.ts › keeps its plant between runs', async (t) => {
    const cwd = await temporaryFolder(t);
    for (let run = 0; run < 2; run++) {
      const output = await runSuccessfully(process.execPath, [pathOf('embed.ts')], { cwd });
      assert.equal(output, '9007199254740993 Fern (indoor)\n');
    }
  });

  it('examples/serve-sqlite.ts › keeps plants across a restart, and stops on SIGTERM', async (t) => {
    const args = [pathOf('serve-sqlite.ts'), join(await temporaryFolder(t), 'plants.db')];
    const first = await startExample(t, args);
    assert.equal(await call(`${first.url}/plants`, '{"id":1,"name":"Fern"}'), '{"name":"Fern"}');
    assert.equal(await first.stop(), 0);
    const second = await startExample(t, args);
    assert.equal(await call(`${second.url}/plants`), '[{"name":"Fern"}]');
    assert.equal(await second.stop(), 0);
  });

  it('examples/serve-postgres.ts › serves the same plants from two processes, which stop on SIGTERM', async (t) => {
    const cluster = await PostgresCluster.start(t);
    const start = () => startExample(t, [pathOf('serve-postgres.ts')], { DATABASE_URL: cluster.url() });
    const [first, second] = [await start(), await start()];
    assert.equal(await call(`${first.url}/plants`, '{"id":1,"name":"Fern"}'), '{"name":"Fern"}');
    assert.equal(await call(`${second.url}/plants`), '[{"name":"Fern"}]');
    assert.deepEqual([await first.stop(), await second.stop()], [0, 0]);
  });

  it('examples/mount.ts › serves plants under a prefix, beside the routes of the app', async (t) => {
    const { url, stop } = await startExample(t, [pathOf('mount.ts')]);
    for (const id of [1, 2]) await call(`${url}/garden/plants`, `{"id":${id},"name":"Fern"}`, 'adas-token');
    const page = await call(`${url}/garden/plants?limit=1`, undefined, 'adas-token');
    assert.equal(page, '</garden/plants?limit=1&after=1>; rel="next"[{"name":"Fern"}]');
    assert.equal(await call(`${url}/other`), 'the app itself\n');
    assert.equal(await stop(), 0);
  });

  it('examples/health-and-metrics.ts › reports requests, commits and a storage failure', async (t) => {
    const file = join(await temporaryFolder(t), 'plants.db');
    const { url, stdout } = await startExample(t, [pathOf('health-and-metrics.ts'), file]);
    await eventuallyEqual(() => stdout().match(/port: \d+/g)?.length, 2);
    const admin = `http://127.0.0.1:${/and .*port: (\d+)/s.exec(stdout())?.[1]}`;
    // /ready waits only a second for a commit, and a slow disk can need more time.
    await eventuallyEqual(async () => (await fetch(`${admin}/ready`)).status, 200);
    await call(`${url}/plants`, '{"id":1,"name":"Fern"}');
    const metrics = await call(`${admin}/metrics`);
    assert.match(metrics, /^plants_requests_total\{operation="createPlant",status="200"\} 1$/m);
    assert.match(metrics, /^plants_writes_total [2-9]$/m);
    await rm(file);
    assert.equal((await fetch(`${admin}/ready`)).status, 503);
    assert.match(await call(`${admin}/metrics`), /^plants_commits_total\{error="storage_unavailable"\} 1$/m);
  });

  it('examples/own-adapter.ts › passes the suite for storage adapters', async (t) => {
    const args = ['--test', pathOf('own-adapter.test.ts')];
    assertTestsPassed(await runSuccessfully(process.execPath, args, { cwd: await temporaryFolder(t) }));
  });
});
