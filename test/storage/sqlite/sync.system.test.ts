import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { issueToken } from '../../../src/tokens/issue.ts';
import { backUpDatabase } from '../../../src/storage/sqlite/backup.ts';
import { startServer } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { startModelClients } from '../../support/model-clients.ts';
import { PlantModel } from '../../support/plant-model.ts';
import { readSyncTrace, syncTraceCalls } from '../../support/sync-trace.ts';
import { attachStrace } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { create } from '../../support/writes.ts';
import { openSqlite } from './sqlite-state.ts';

describe('acknowledgment of a write to SQLite', () => {
  for (const [clients, storage] of [
    [1, 'sqlite:plants.db'],
    [16, 'sqlite:plants.db'],
    [1, 'sqlite:plants.db?commitThread=true'],
    [16, 'sqlite:plants.db?commitThread=true'],
  ] as const) {
    // Killing a server does not prove this, because unsynced data survives the process.
    it(`is sent after a sync of the WAL, with ${clients} clients and ${storage}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const { token } = issueToken(join(cwd, 'tokens.json'), { user: 'ada' });
      const server = await startServer(t, ['--storage', storage, '--log', 'off'], { cwd });
      const output = join(cwd, 'trace');
      const strace = await attachStrace(t, server.pid, ['-y', '-s', '32', '-e', `trace=${syncTraceCalls}`], output);
      if (strace === undefined) return;
      const load = startModelClients(new PlantModel(), {
        urls: [server.url],
        tokens: new Map([['ada', token]]),
        clients,
        random: Math.random,
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

/** Returns the synced paths in order, from the output of strace -y. */
function syncedPaths(trace: string): (string | undefined)[] {
  return [...trace.matchAll(/sync\(\d+<([^>]*)>\) += 0/g)].map(([, path]) => path);
}

describe('new file of a SqliteStorage', () => {
  it('has its directory entry synced before the first commit resolves', async (t) => {
    const folder = await temporaryFolder(t);
    const output = join(folder, 'trace');
    const strace = await attachStrace(t, process.pid, ['-y', '-e', 'trace=fsync,fdatasync'], output);
    if (strace === undefined) return;
    const storage = openSqlite(t, join(folder, 'plants.db'));
    await storage.commit([create(1n, 'ada', 'Fern')]);
    await strace.detach();
    assert.ok(syncedPaths(await readFile(output, 'utf8')).includes(folder));
  });
});

describe('backUpDatabase', () => {
  it('syncs the directory entry of the target before it resolves', async (t) => {
    const [folder, other] = [await temporaryFolder(t), await temporaryFolder(t)];
    const storage = openSqlite(t, join(folder, 'plants.db'));
    await storage.commit([create(1n, 'ada', 'Fern')]);
    const output = join(folder, 'trace');
    const strace = await attachStrace(t, process.pid, ['-y', '-e', 'trace=fsync,fdatasync'], output);
    if (strace === undefined) return;
    await backUpDatabase(join(folder, 'plants.db'), join(other, 'copy.db'), () => undefined);
    await strace.detach();
    assert.equal(syncedPaths(await readFile(output, 'utf8')).at(-1), other);
  });
});
