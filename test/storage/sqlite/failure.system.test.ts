import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { backUpDatabase } from '../../../src/storage/sqlite/backup.ts';
import { create } from '../../../src/testing/plants.ts';
import { issueToken } from '../../../src/tokens/issue.ts';
import { listAll, startModelClients } from '../../support/model-clients.ts';
import { checkIntegrity } from '../../support/sqlite-file.ts';
import { createAll, rowOfPlants } from '../../support/stored-plants.ts';
import { attachStrace } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { folderWithToken, startTokenServer } from '../../support/token-server.ts';
import { newPath, openSqlite } from './sqlite-state.ts';

/** Returns the paths that this process syncs during `work`, in order, or `undefined` if strace cannot be attached. */
async function syncedDuring(t: TestContext, work: () => Promise<unknown>): Promise<string[] | undefined> {
  const output = join(await temporaryFolder(t), 'trace');
  const strace = await attachStrace(t, process.pid, ['-y', '-e', 'trace=fsync,fdatasync'], output);
  if (strace === undefined) return undefined;
  await work();
  await strace.stop('SIGINT');
  return [...(await readFile(output, 'utf8')).matchAll(/sync\(\d+<([^>]*)>\) += 0/g)].map(([, path = '']) => path);
}

it('SqliteStorage syncs the directory entry of a new file before the first commit resolves', async (t) => {
  const path = await newPath(t);
  const synced = await syncedDuring(t, () => openSqlite(t, path).commit([create(1)]));
  if (synced !== undefined) assert.ok(synced.includes(dirname(path)), synced.join());
});

it('backUpDatabase syncs the directory entry of the target before it resolves', async (t) => {
  const [file, target] = [await newPath(t), await newPath(t)];
  await createAll(file, rowOfPlants('ada', 1));
  const synced = await syncedDuring(t, () => backUpDatabase(file, target, () => undefined));
  if (synced !== undefined) assert.equal(synced.at(-1), dirname(target));
});

/** System calls that fail. SQLite calls `fdatasync` or `fsync`, depending on its build. */
const faults = [
  ['a service acknowledges no write while syncs fail', 'fdatasync,fsync', 'EIO'],
  ['a service acknowledges no write while the disk is full', 'pwrite64', 'ENOSPC'],
  ['a service acknowledges no write while writes fail', 'pwrite64', 'EIO'],
  ['a service acknowledges no write while the file system is read-only', 'pwrite64,fdatasync,fsync,ftruncate', 'EROFS'],
] as const;

for (const [name, storage] of [
  ['service over SQLite', 'sqlite:plants.db'],
  ['service over SQLite with a commit thread', 'sqlite:plants.db?commitThread=true'],
] as const) {
  describe(name, () => {
    for (const [title, calls, error] of faults) {
      it(title, async (t) => {
        const folder = await folderWithToken(t, 'eve');
        const { token } = await issueToken(folder.tokens, { user: 'ada' });
        const start = () => startTokenServer(t, ['--storage', storage, '--log-level', 'error'], { folder });
        const { server, create: createPlant } = await start();
        const tokens = new Map([['ada', token]]);
        const clients = startModelClients({ urls: [server.url], tokens, clients: 8 });
        t.after(() => clients.stop());
        await clients.acknowledgeMore(200);
        for (let id = 0; id < 2; id++) {
          const args = ['-e', `trace=${calls}`, '-e', `inject=${calls}:error=${error}`];
          const strace = await attachStrace(t, server.pid, args);
          if (strace === undefined) return;
          // After 50 failures, no request from before strace was attached is in progress.
          await clients.failMore(50);
          const before = clients.acknowledged();
          await clients.failMore(100);
          await listAll(server.url, token);
          await sleep(50);
          assert.equal((await createPlant(id)).status, 503);
          assert.equal(clients.acknowledged(), before);
          await strace.stop('SIGINT');
          await clients.acknowledgeMore(100);
          assert.equal((await createPlant(id)).status, 200);
        }
        await clients.assertNothingLost();
        assert.equal(await server.stop('SIGKILL'), null);
        const again = await start();
        await clients.assertNothingLost([again.server.url]);
        assert.equal(await again.server.stop(), 0);
        assert.equal(checkIntegrity(join(folder.cwd, 'plants.db')), 'ok');
      });
    }
  });
}
