import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { issueToken } from '../../../../../src/tokens/issue.ts';
import { callService } from '../../../../support/call.ts';
import { startServer } from '../../../../support/command-line.ts';
import { eventually } from '../../../../support/eventually.ts';
import { listAll, startModelClients } from '../../../../support/model-clients.ts';
import { PlantModel } from '../../../../support/plant-model.ts';
import { hasProgram, limitFileSize } from '../../../../support/system-fault.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

async function startTwo(t: TestContext): Promise<{ urls: string[]; pids: number[]; tokens: Map<string, string> }> {
  const cwd = await temporaryFolder(t);
  const tokens = new Map(['ada', 'bob'].map((user) => [user, issueToken(join(cwd, 'tokens.json'), { user }).token]));
  // Both start at the same time, on a file that does not exist.
  const servers = await Promise.all(
    [1, 2].map(() => startServer(t, ['--storage', 'sqlite:plants.db', '--log', 'off'], { cwd })),
  );
  return { urls: servers.map(({ url }) => url), pids: servers.map(({ pid }) => pid), tokens };
}

/** Asserts that both servers list the plants of the model. */
async function assertAgree(model: PlantModel, urls: string[], tokens: Map<string, string>): Promise<void> {
  for (const url of urls) {
    for (const [user, token] of tokens) {
      assert.deepEqual(model.check(user, await listAll(url, token)), { lost: [], resurrected: [], phantom: [] });
    }
  }
}

describe('two servers over one SQLite file', () => {
  it('show every write that either of them acknowledged, under load', async (t) => {
    const { urls, tokens } = await startTwo(t);
    const model = new PlantModel();
    // Few ids, so that many creates and deletes fail because of the other server.
    const load = startModelClients(model, { urls, tokens, clients: 8, idsEach: 5, random: Math.random });
    t.after(() => load.stop());
    await eventually(() => {
      assert.ok(load.acknowledged() >= 1000, JSON.stringify([...load.statuses]));
    }, 60_000);
    await load.stop();
    assert.deepEqual(load.problems, []);
    assert.deepEqual([...load.statuses.keys()].sort(), [200, 204, 400, 404]);
    await assertAgree(model, urls, tokens);
  });

  it('recover without a restart after the disk failed for one of them under load', async (t) => {
    if (!hasProgram(t, 'prlimit')) return;
    const {
      urls,
      pids: [pid = 0],
      tokens,
    } = await startTwo(t);
    const model = new PlantModel();
    const load = startModelClients(model, { urls, tokens, clients: 8, random: Math.random });
    t.after(() => load.stop());
    await eventually(() => {
      assert.ok(load.acknowledged() >= 100);
    }, 20_000);
    limitFileSize(pid, 4096);
    await eventually(() => {
      assert.ok((load.statuses.get(503) ?? 0) >= 50);
    }, 20_000);
    limitFileSize(pid, 'unlimited');
    const token = tokens.get('ada') ?? '';
    await eventually(async () => {
      const { status } = await callService(urls[0] ?? '', 'DELETE', '/plants/-1', { token });
      assert.equal(status, 404);
    }, 20_000);
    await load.stop();
    t.diagnostic(`responses by status: ${JSON.stringify(Object.fromEntries(load.statuses))}`);
    assert.deepEqual(load.problems, []);
    await assertAgree(model, urls, tokens);
  });
});
