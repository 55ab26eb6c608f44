import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../../../../src/tokens/issue.ts';
import { callService } from '../../../../support/call.ts';
import type { Answered } from '../../../../support/call.ts';
import { startServer } from '../../../../support/command-line.ts';
import { eventually } from '../../../../support/eventually.ts';
import type { ServerProcess } from '../../../../support/server-process.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../../support/temporary-folder.ts';

interface Started {
  readonly folder: string;
  readonly server: ServerProcess;
  readonly post: (id: number) => Promise<Answered>;
  readonly list: () => Promise<Answered>;
  readonly ready: () => Promise<number>;
}

/** Starts a server that has created the plant 1, and removes its database files. */
async function startAndRemove(t: HasAfter, storage: string): Promise<Started> {
  const folder = await temporaryFolder(t);
  const { token } = issueToken(join(folder, 'tokens.json'), { user: 'ada' });
  const args = ['--storage', storage, '--admin-port', '0', '--log', 'json'];
  const server = await startServer(t, args, { cwd: folder });
  const adminUrl = await eventually(() => {
    const url = /^Health and metrics: (\S+)$/m.exec(server.stdout())?.[1];
    assert.ok(url !== undefined);
    return url;
  });
  const post = (id: number): Promise<Answered> =>
    callService(server.url, 'POST', '/plants', { token, body: JSON.stringify({ id, name: `Fern ${id}` }) });
  assert.equal((await post(1)).status, 200);
  for (const ending of ['', '-wal', '-shm']) await rm(join(folder, `plants.db${ending}`));
  return {
    folder,
    server,
    post,
    list: () => callService(server.url, 'GET', '/plants', { token }),
    ready: async () => (await fetch(`${adminUrl}/ready`)).status,
  };
}

/** Waits until the server is not ready. The result of the check at its start is reused for a second. */
async function becomesUnready(ready: () => Promise<number>): Promise<void> {
  await eventually(async () => {
    assert.equal(await ready(), 503);
  });
}

/** Returns the entries of the log that report the loss of the file and say what to do. */
function adviceIn(folder: string, server: ServerProcess): string[] {
  const sentence =
    `The database file ${join(folder, 'plants.db')} was removed or replaced while it was open. ` +
    'Its plants can be read until this process stops: save them, then restore the file from a backup and restart.';
  return server
    .stderr()
    .split('\n')
    .filter((line) => line.includes(sentence));
}

for (const storage of ['sqlite:plants.db', 'sqlite:plants.db?commitThread=true']) {
  describe(`plant-store serve --storage ${storage}, whose database file was removed`, { concurrency: 2 }, () => {
    it('responds to writes with 503, lists plants, is not ready, and says once what to do', async (t) => {
      const { folder, server, post, list, ready } = await startAndRemove(t, storage);
      const failed = await post(2);
      assert.deepEqual([failed.status, failed.error], [503, 50300]);
      assert.match((await list()).text, /^\[\{"name":"Fern 1"\}/);
      await becomesUnready(ready);
      // Repetitions within a second are not logged.
      await sleep(1100);
      assert.equal((await post(3)).status, 503);
      assert.equal(await server.stop(), 0);
      assert.equal(adviceIn(folder, server).length, 1, server.stderr());
      assert.deepEqual((await readdir(folder)).sort(), ['tokens.json', 'tokens.json.lock']);
    });

    it('is not ready while no client writes, and says once what to do', async (t) => {
      const { folder, server, ready } = await startAndRemove(t, storage);
      await becomesUnready(ready);
      // The result of a check is reused for a second.
      await sleep(1100);
      assert.equal(await ready(), 503);
      assert.equal(await server.stop(), 0);
      assert.equal(adviceIn(folder, server).length, 1, server.stderr());
    });
  });
}
