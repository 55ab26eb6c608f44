import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { issueToken } from '../../../../src/tokens/issue.ts';
import { spawnCommand, startServer } from '../../../support/command-line.ts';
import { PlantModel, listAll, startModelClients } from '../../../support/model-clients.ts';
import type { ServerProcess } from '../../../support/server-process.ts';
import { checkIntegrity } from '../../../support/sqlite-file.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
const rounds = Number(values.rounds);

/**
 * All rounds use one file. Some rounds first kill a server while it starts, and others kill two servers on the file one
 * after the other.
 */
async function killAndRestart(t: TestContext, storage: string): Promise<void> {
  // The folder is kept if the test fails.
  const cwd = await mkdtemp(join(tmpdir(), 'plant-store-crash-'));
  const tokens = new Map<string, string>();
  for (const user of ['ada', 'bob', 'eve']) {
    tokens.set(user, (await issueToken(join(cwd, 'tokens.json'), { user })).token);
  }
  let acknowledged = 0;
  const problems: string[] = [];
  const model = new PlantModel();
  const args = ['--storage', storage, '--log-level', 'error'];

  async function startAndCompare(round: string): Promise<ServerProcess> {
    const server = await startServer(t, args, { cwd });
    for (const [user, token] of tokens) {
      for (const [kind, plants] of Object.entries(model.check(user, await listAll(server.url, token)))) {
        problems.push(...plants.map((plant) => `before ${round}: ${kind}: ${plant}`));
      }
    }
    return server;
  }

  for (let n = 1; n <= rounds; n++) {
    const round = `round ${n}`;
    if (n % 3 === 2) {
      const child = spawnCommand(['serve', '--port', '0', ...args], { cwd });
      const exited = once(child, 'exit');
      await sleep(Math.random() * 400);
      child.kill('SIGKILL');
      await exited;
    }
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
  const integrity = checkIntegrity(join(cwd, 'plants.db'));
  if (integrity !== 'ok') problems.push(integrity);
  t.diagnostic(`${acknowledged} writes acknowledged, in ${cwd}`);
  assert.deepEqual(problems, []);
  assert.ok(acknowledged > 0);
  await rm(cwd, { recursive: true });
}

it('serve › keeps every acknowledged write when it is killed and restarted', (t) =>
  killAndRestart(t, 'sqlite:plants.db'));

it('serve with a commit thread › keeps every acknowledged write when it is killed and restarted', (t) =>
  killAndRestart(t, 'sqlite:plants.db?commitThread=true'));
