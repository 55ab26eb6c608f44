import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { PostgresCluster } from './support/postgres.ts';
import { assertTestsPassed, runScript, tsx } from './support/run-script.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import type { HasAfter } from './support/temporary-folder.ts';

const examples = fileURLToPath(new URL('../examples', import.meta.url));
const tried = ['embed.ts', 'mount.ts', 'own-adapter.ts', 'serve-postgres.ts', 'serve-sqlite.ts'];

interface Listening {
  readonly url: string;
  /** Sends SIGTERM; resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Starts an example that listens; answers its URL and how to stop it. */
async function listen(t: HasAfter, args: string[], env: Record<string, string>): Promise<Listening> {
  const child = spawn(process.execPath, ['--import', tsx, ...args], {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => {
    child.kill('SIGKILL');
  });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const port = /port: (\d+)/.exec(line)?.[1] ?? assert.fail(line);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'exit')) as [number | null];
      return code;
    },
  };
}

const call = async (url: string, token: string, body?: string): Promise<unknown> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(url, { headers, ...(body !== undefined && { method: 'POST', body }) })).json();
};

describe('The examples', () => {
  it('are all tried here, and under 50 lines', async () => {
    assert.deepEqual((await readdir(examples)).sort(), tried);
    for (const name of tried) {
      const lines = (await readFile(join(examples, name), 'utf8')).split('\n').length;
      assert.ok(lines <= 50, `${name} has ${lines} lines`);
    }
  });

  it('embed: keeps its plant from run to run', async (t) => {
    const folder = await temporaryFolder(t);
    const args = ['--import', tsx, join(examples, 'embed.ts'), 'plants.db'];
    assert.equal(await runScript(process.execPath, args, { cwd: folder }), '9007199254740993 Fern (indoor)\n');
    assert.equal(await runScript(process.execPath, args, { cwd: folder }), '9007199254740993 Fern (indoor)\n');
  });

  it('serve-sqlite: serves, keeps plants over a restart, and stops on SIGTERM', async (t) => {
    const args = [join(examples, 'serve-sqlite.ts'), join(await temporaryFolder(t), 'plants.db')];
    const env = { ADAS_TOKEN: 'secret' };
    const first = await listen(t, args, env);
    assert.deepEqual(await call(`${first.url}/plants`, 'secret', '{"id":1,"name":"Fern"}'), { name: 'Fern' });
    assert.equal(await first.stop(), 0);
    const second = await listen(t, args, env);
    assert.deepEqual(await call(`${second.url}/plants`, 'secret'), [{ name: 'Fern' }]);
    assert.equal(await second.stop(), 0);
  });

  it('serve-postgres: two of them serve the same plants, and stop on SIGTERM', async (t) => {
    const cluster = await PostgresCluster.start();
    t.after(() => cluster.remove());
    const env = { ADAS_TOKEN: 'secret', DATABASE_URL: cluster.url() };
    const args = [join(examples, 'serve-postgres.ts')];
    const services = [await listen(t, args, env), await listen(t, args, env)];
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

  it('mount: serves under its prefix, beside the app', async (t) => {
    const { url, stop } = await listen(t, [join(examples, 'mount.ts')], {});
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

  it('own-adapter: passes the suite', async (t) => {
    const folder = await temporaryFolder(t);
    const args = ['--import', tsx, '--test', join(examples, 'own-adapter.ts')];
    assertTestsPassed(await runScript(process.execPath, args, { cwd: folder }));
  });
});
