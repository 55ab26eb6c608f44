import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../../src/tokens/issue.ts';
import { callService } from '../../support/call.ts';
import { startServer } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { listAll, startModelClients } from '../../support/model-clients.ts';
import { PlantModel } from '../../support/plant-model.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { checkIntegrity } from '../../support/sqlite-file.ts';
import { attachStrace, mountSmallFolder } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Starts a server with a database file in `folder`, by default a new folder, and puts the server under load. */
async function startLoaded(t: TestContext, storage: string, folder?: string) {
  const cwd = folder ?? (await temporaryFolder(t));
  const issue = (user: string): string => issueToken(join(cwd, 'tokens.json'), { user }).token;
  const tokens = new Map(['ada', 'bob'].map((user) => [user, issue(user)]));
  const otherToken = issue('eve');
  const start = (): Promise<ServerProcess> => startServer(t, ['--storage', storage, '--log-level', 'error'], { cwd });
  const server = await start();
  const clients = startModelClients(new PlantModel(), { urls: [server.url], tokens, clients: 8 });
  t.after(() => clients.stop());
  await clients.acknowledgeMore(200);

  return {
    server,
    clients,
    /** Resolves after `count` more responses with 503. */
    failMore: async (count: number): Promise<void> => {
      const failures = (): number => clients.statuses.get(503) ?? 0;
      const before = failures();
      await eventually(() => {
        assert.ok(failures() >= before + count, JSON.stringify([...clients.statuses]));
      }, 20_000);
    },
    /** Creates a plant of a user that is not part of the load, and returns the status. */
    create: async (id: number): Promise<number> => {
      const body = JSON.stringify({ id, name: 'Fern' });
      return (await callService(server.url, 'POST', '/plants', { token: otherToken, body })).status;
    },
    /** Asserts that the plants of all users can be listed. */
    assertLists: async (): Promise<void> => {
      for (const token of tokens.values()) await listAll(server.url, token);
    },
    /** Stops the load, and compares all lists with the acknowledged writes, both before and after a restart. */
    assertNothingLost: async (): Promise<void> => {
      await clients.assertNothingLost();
      assert.equal(await server.stop('SIGKILL'), null);
      const again = await start();
      await clients.assertNothingLost([again.url]);
      assert.equal(await again.stop(), 0);
      assert.equal(checkIntegrity(join(cwd, 'plants.db')), 'ok');
    },
  };
}

/** Fills a file system completely. The returned function frees the space. */
function fillUp(folder: string): () => Promise<void> {
  const path = join(folder, 'filler');
  for (let bytes = 2 ** 20; bytes >= 1; bytes /= 2) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  return () => rm(path);
}

const inject = (calls: string, error: string): string[] => [
  '-e',
  `trace=${calls}`,
  '-e',
  `inject=${calls}:error=${error}`,
];

/** System calls that fail. SQLite calls `fdatasync` or `fsync`, depending on its build. */
const faults: readonly [condition: string, straceArgs: readonly string[]][] = [
  ['syncs fail', inject('fdatasync,fsync', 'EIO')],
  ['writes fail', inject('pwrite64', 'EIO')],
  ['the file system is read-only', inject('pwrite64,fdatasync,fsync,ftruncate', 'EROFS')],
];

const refuseWrites = inject('pwrite64', 'ENOSPC');

for (const storage of ['sqlite:plants.db', 'sqlite:plants.db?commitThread=true']) {
  describe(`service over ${storage}`, () => {
    it('responds with 503 while the disk is full, and recovers without a restart', async (t) => {
      const folder = await mountSmallFolder(t, 16);
      const { server, clients, failMore, assertLists, assertNothingLost } = await startLoaded(t, storage, folder);
      for (let n = 0; n < 2; n++) {
        const makeRoom =
          folder !== undefined ? fillUp(folder) : (await attachStrace(t, server.pid, refuseWrites))?.detach;
        if (makeRoom === undefined) return;
        await failMore(50);
        await assertLists();
        await makeRoom();
        await clients.acknowledgeMore(100);
      }
      await assertNothingLost();
    });

    for (const [condition, straceArgs] of faults) {
      it(`acknowledges no write while ${condition}, and recovers without a restart`, async (t) => {
        const { server, clients, create, failMore, assertLists, assertNothingLost } = await startLoaded(t, storage);
        for (let n = 0; n < 2; n++) {
          const strace = await attachStrace(t, server.pid, straceArgs);
          if (strace === undefined) return;
          // After 50 failures, no request from before strace was attached is in progress.
          await failMore(50);
          const before = clients.acknowledged();
          await failMore(100);
          await assertLists();
          await sleep(50);
          assert.equal(await create(n), 503);
          assert.equal(clients.acknowledged(), before);
          await strace.detach();
          await clients.acknowledgeMore(100);
          assert.equal(await create(n), 200);
        }
        await assertNothingLost();
      });
    }
  });
}
