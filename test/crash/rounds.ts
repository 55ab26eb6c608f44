import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../src/tokens/issue.ts';
import { spawnCommand, startServer } from '../support/command-line.ts';
import { listAll, startModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { checkIntegrity } from '../support/sqlite-file.ts';
import { CleanUp } from '../support/temporary-folder.ts';

interface CrashOptions {
  /** An empty folder. */
  readonly folder: string;
  /** The servers' storage setting, which must name `plants.db`. */
  readonly storage: string;
  readonly rounds: number;
}

interface CrashReport {
  acknowledged: number;
  /** Lost, resurrected and phantom plants, wrong responses, and what SQLite's integrity check found. */
  readonly problems: string[];
}

/**
 * Kills servers under load, and compares all plants with the responses that the clients received. All rounds use one
 * file. Some rounds first kill a server while it starts, and others kill two servers on the file one after the other.
 */
export async function runCrashRounds({ folder, storage, rounds }: CrashOptions): Promise<CrashReport> {
  const tokens = new Map<string, string>();
  for (const user of ['ada', 'bob', 'eve']) {
    tokens.set(user, (await issueToken(join(folder, 'tokens.json'), { user })).token);
  }
  const report: CrashReport = { acknowledged: 0, problems: [] };
  const model = new PlantModel();
  await using cleanUp = new CleanUp();
  const args = ['--storage', storage, '--log-level', 'error'];

  async function startAndCompare(round: string): Promise<ServerProcess> {
    const server = await startServer(cleanUp, args, { cwd: folder });
    for (const [user, token] of tokens) {
      for (const [kind, plants] of Object.entries(model.check(user, await listAll(server.url, token)))) {
        report.problems.push(...plants.map((plant) => `before ${round}: ${kind}: ${plant}`));
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
    const load = startModelClients(model, { urls: servers.map(({ url }) => url), tokens, clients: 8 });
    // Otherwise, a slow machine might not acknowledge a single write.
    if (n === rounds) await load.acknowledgeMore(1);
    for (const server of servers) {
      await sleep(20 + Math.random() * 250);
      await server.stop('SIGKILL');
    }
    await load.stop();
    report.acknowledged += load.acknowledged();
    report.problems.push(...load.problems.map((line) => `${round}: ${line}`));
  }
  await startAndCompare('the end');
  const integrity = checkIntegrity(join(folder, 'plants.db'));
  if (integrity !== 'ok') report.problems.push(integrity);
  return report;
}
