import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { issueToken } from '../../../../src/tokens/issue.ts';
import { spawnCommand, startServer } from '../../../support/command-line.ts';
import { PlantModel, listAll, startModelClients } from '../../../support/model-clients.ts';
import type { ServerProcess } from '../../../support/server-process.ts';
import { checkIntegrity } from '../../../support/sqlite-file.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    storage: { type: 'string', multiple: true, default: ['sqlite:plants.db', 'sqlite:plants.db?commitThread=true'] },
  },
});
const rounds = Number(values.rounds);

for (const storage of values.storage) {
  // All rounds use one file, which the storage must name `plants.db`. Some rounds first kill a server while it starts,
  // and others kill two servers on the file one after the other.
  it(`serve --storage ${storage}, killed and restarted › stores exactly the acknowledged writes`, async (t) => {
    // The folder is kept if the test fails.
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-crash-'));
    const tokens = new Map<string, string>();
    for (const user of ['ada', 'bob', 'eve']) {
      tokens.set(user, (await issueToken(join(folder, 'tokens.json'), { user })).token);
    }
    let acknowledged = 0;
    const problems: string[] = [];
    const model = new PlantModel();
    const args = ['--storage', storage, '--log-level', 'error'];

    async function startAndCompare(round: string): Promise<ServerProcess> {
      const server = await startServer(t, args, { cwd: folder });
      for (const [user, token] of tokens) {
        for (const [kind, plants] of Object.entries(model.check(user, await listAll(server.url, token)))) {
          problems.push(...plants.map((plant) => `before ${round}: ${kind}: ${plant}`));
        }
      }
      return server;
    }

    async function killWhileStarting(): Promise<void> {
      const child = spawnCommand(['serve', '--port', '0', ...args], { cwd: folder });
      const exited = once(child, 'exit');
      await sleep(Math.random() * 400);
      child.kill('SIGKILL');
      await exited;
    }

    for (let n = 1; n <= rounds; n++) {
      const round = `round ${n}`;
      if (n % 3 === 2) await killWhileStarting();
      const servers = [await startAndCompare(round)];
      if (n % 3 === 0) servers.push(await startAndCompare(round));
      const load = startModelClients({ urls: servers.map(({ url }) => url), tokens, clients: 8, model });
      // Otherwise, a slow machine might not acknowledge a single write.
      if (n === rounds) await load.acknowledgeMore(1);
      for (const server of servers) {
        await sleep(20 + Math.random() * 250);
        await server.stop('SIGKILL');
      }
      await load.stop();
      acknowledged += load.acknowledged();
      problems.push(...load.problems.map((line) => `${round}: ${line}`));
    }
    await (await startAndCompare('the end')).stop('SIGKILL');
    const integrity = checkIntegrity(join(folder, 'plants.db'));
    if (integrity !== 'ok') problems.push(integrity);
    t.diagnostic(`${acknowledged} writes acknowledged, in ${folder}`);
    assert.deepEqual(problems, []);
    assert.ok(acknowledged > 0);
    await rm(folder, { recursive: true });
  });
}
