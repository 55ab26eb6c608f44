import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../../src/tokens/issue.ts';
import { callService } from '../../support/call.ts';
import { startServer } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { listAll, startModelClients } from '../../support/model-clients.ts';
import { PlantModel } from '../../support/plant-model.ts';
import { checkIntegrity } from '../../support/sqlite-file.ts';
import { attachStrace } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const inject = (calls: string, error: string): string[] => [
  '-e',
  `trace=${calls}`,
  '-e',
  `inject=${calls}:error=${error}`,
];

/** System calls that fail. SQLite calls `fdatasync` or `fsync`, depending on its build. */
const faults: readonly [condition: string, straceArgs: readonly string[]][] = [
  ['syncs fail', inject('fdatasync,fsync', 'EIO')],
  ['the disk is full', inject('pwrite64', 'ENOSPC')],
  ['writes fail', inject('pwrite64', 'EIO')],
  ['the file system is read-only', inject('pwrite64,fdatasync,fsync,ftruncate', 'EROFS')],
];

for (const storage of ['sqlite:plants.db', 'sqlite:plants.db?commitThread=true']) {
  describe(`service over ${storage}`, () => {
    for (const [condition, straceArgs] of faults) {
      it(`acknowledges no write while ${condition}, and recovers without a restart`, async (t) => {
        const cwd = await temporaryFolder(t);
        const tokens = new Map<string, string>();
        for (const user of ['ada', 'bob']) {
          tokens.set(user, (await issueToken(join(cwd, 'tokens.json'), { user })).token);
        }
        const { token: otherToken } = await issueToken(join(cwd, 'tokens.json'), { user: 'eve' });
        const start = () => startServer(t, ['--storage', storage, '--log-level', 'error'], { cwd });
        const server = await start();
        const clients = startModelClients(new PlantModel(), { urls: [server.url], tokens, clients: 8 });
        t.after(() => clients.stop());
        await clients.acknowledgeMore(200);

        const failures = (): number => clients.statuses.get(503) ?? 0;
        const failMore = async (count: number): Promise<void> => {
          const enough = failures() + count;
          await eventually(() => {
            assert.ok(failures() >= enough, JSON.stringify([...clients.statuses]));
          }, 20_000);
        };
        const create = async (id: number): Promise<number> => {
          const body = JSON.stringify({ id, name: 'Fern' });
          return (await callService(server.url, 'POST', '/plants', { token: otherToken, body })).status;
        };
        for (let n = 0; n < 2; n++) {
          const strace = await attachStrace(t, server.pid, straceArgs);
          if (strace === undefined) return;
          // After 50 failures, no request from before strace was attached is in progress.
          await failMore(50);
          const before = clients.acknowledged();
          await failMore(100);
          for (const token of tokens.values()) await listAll(server.url, token);
          await sleep(50);
          assert.equal(await create(n), 503);
          assert.equal(clients.acknowledged(), before);
          await strace.detach();
          await clients.acknowledgeMore(100);
          assert.equal(await create(n), 200);
        }

        await clients.assertNothingLost();
        assert.equal(await server.stop('SIGKILL'), null);
        const again = await start();
        await clients.assertNothingLost([again.url]);
        assert.equal(await again.stop(), 0);
        assert.equal(checkIntegrity(join(cwd, 'plants.db')), 'ok');
      });
    }
  });
}
