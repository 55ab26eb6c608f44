import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { issueToken } from '../../../src/tokens/issue.ts';
import { backUpDatabase } from '../../../src/storage/sqlite/backup.ts';
import { startServer } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { startModelClients } from '../../support/model-clients.ts';
import { PlantModel } from '../../support/plant-model.ts';
import { createAll, rowOfPlants } from '../../support/stored-plants.ts';
import { readSyncTrace, syncTraceCalls } from '../../support/sync-trace.ts';
import { attachStrace } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
import { newPath, openSqlite } from './sqlite-state.ts';

describe('acknowledgment of a write to SQLite', () => {
  const storages = ['sqlite:plants.db', 'sqlite:plants.db?commitThread=true'];
  for (const [clients, storage] of storages.flatMap((each) => [[1, each] as const, [16, each] as const])) {
    // Killing the server would not reveal a missing sync, because unsynced data survives the end of the process.
    it(`is sent after a sync of the WAL, with ${clients} clients and ${storage}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const { token } = issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
      const server = await startServer(t, ['--storage', storage, '--log-level', 'error'], { cwd });
      const output = join(cwd, 'trace');
      const strace = await attachStrace(t, server.pid, ['-y', '-s', '32', '-e', `trace=${syncTraceCalls}`], output);
      if (strace === undefined) return;
      const load = startModelClients(new PlantModel(), {
        urls: [server.url],
        tokens: new Map([['ada', token]]),
        clients,
      });
      await eventually(() => {
        assert.ok(load.acknowledged() >= 100 * Math.sqrt(clients));
      }, 20_000);
      await load.stop();
      assert.deepEqual(load.problems, []);
      await strace.detach();

      const { acknowledged, syncs, tooEarly } = readSyncTrace(await readFile(output, 'utf8'));
      t.diagnostic(`${acknowledged} acknowledged, ${(syncs / acknowledged).toFixed(2)} syncs each`);
      assert.equal(acknowledged, load.acknowledged());
      assert.deepEqual(tooEarly, []);
    });
  }
});

/** Returns the paths that this process syncs during `work`, in order, or `undefined` if strace cannot be attached. */
async function syncedDuring(t: TestContext, work: () => Promise<unknown>): Promise<string[] | undefined> {
  const output = join(await temporaryFolder(t), 'trace');
  const strace = await attachStrace(t, process.pid, ['-y', '-e', 'trace=fsync,fdatasync'], output);
  if (strace === undefined) return undefined;
  await work();
  await strace.detach();
  return [...(await readFile(output, 'utf8')).matchAll(/sync\(\d+<([^>]*)>\) += 0/g)].map(([, path = '']) => path);
}

describe('new file of a SqliteStorage', () => {
  it('has its directory entry synced before the first commit resolves', async (t) => {
    const path = await newPath(t);
    const synced = await syncedDuring(t, () => openSqlite(t, path).commit([create(1)]));
    if (synced !== undefined) assert.ok(synced.includes(dirname(path)), synced.join());
  });
});

describe('backUpDatabase', () => {
  it('syncs the directory entry of the target before it resolves', async (t) => {
    const [file, target] = [await newPath(t), await newPath(t)];
    await createAll(file, rowOfPlants('ada', 1));
    const synced = await syncedDuring(t, () => backUpDatabase(file, target, () => undefined));
    if (synced !== undefined) assert.equal(synced.at(-1), dirname(target));
  });
});
