import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../src/tokens/issue.ts';
import { listAll, startModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { checkIntegrity } from '../support/sqlite-file.ts';
import { CleanUp } from '../support/temporary-folder.ts';

/**
 * What a round does:
 * - `kill`: kills a server under load.
 * - `kill at start`: kills a server while it starts, then kills a server under load.
 * - `kill one of two`: starts two servers on the file, kills one under load, and then kills the other.
 * - `stop`: stops a server under load with SIGTERM.
 */
export const roundKinds = ['kill', 'kill at start', 'kill one of two', 'stop'] as const;
export type RoundKind = (typeof roundKinds)[number];

export interface CrashOptions {
  /** An empty folder. */
  readonly folder: string;
  /** The Node.js arguments that run `plant-store`. */
  readonly command: readonly string[];
  /** The servers' storage setting, which must name `plants.db`. */
  readonly storage: string;
  readonly rounds: readonly RoundKind[];
}

/** The result of all rounds. */
export interface CrashReport {
  /** The number of acknowledged writes. */
  acknowledged: number;
  /** The number of writes without a response. These writes may or may not have taken effect. */
  unanswered: number;
  /** Lost, resurrected and phantom plants, wrong responses and exit codes, and what SQLite's integrity check found. */
  readonly problems: string[];
}

const users = ['ada', 'bob', 'eve'];

/** Runs the rounds on one file. After each round, compares all plants with the responses that the clients received. */
export async function runCrashRounds({ folder, command, storage, rounds }: CrashOptions): Promise<CrashReport> {
  const tokens = new Map(users.map((user) => [user, issueToken(join(folder, 'tokens.json'), { user }).token]));
  const report: CrashReport = { acknowledged: 0, unanswered: 0, problems: [] };
  const model = new PlantModel();
  await using cleanUp = new CleanUp();

  function spawnServer(): ChildProcess {
    const args = [...command, 'serve', '--port', '0', '--storage', storage, '--log-level', 'error'];
    return spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  const start = (): Promise<ServerProcess> =>
    untilListening(cleanUp, spawnServer(), /^Plant Store listening on (\S+)\n/m);

  async function killAtStart(maxMs: number): Promise<void> {
    const child = spawnServer();
    const exited = once(child, 'exit');
    await sleep(Math.random() * maxMs);
    child.kill('SIGKILL');
    await exited;
  }

  async function compare(round: string, [server]: readonly ServerProcess[]): Promise<void> {
    for (const [user, token] of tokens) {
      for (const [kind, plants] of Object.entries(model.check(user, await listAll(server?.url ?? '', token)))) {
        report.problems.push(...(plants as string[]).map((plant) => `before ${round}: ${kind}: ${plant}`));
      }
    }
  }

  async function runRound(round: string, kind: RoundKind, servers: readonly ServerProcess[]): Promise<void> {
    const urls = servers.map(({ url }) => url);
    const load = startModelClients(model, { urls, tokens, clients: 8 });
    for (const server of servers) {
      await sleep(20 + Math.random() * 250);
      const code = await server.stop(kind === 'stop' ? 'SIGTERM' : 'SIGKILL');
      if (kind === 'stop' && code !== 0) report.problems.push(`${round}: exit code ${code ?? ''}: ${server.stderr()}`);
    }
    await load.stop();
    report.acknowledged += load.acknowledged();
    report.unanswered += load.statuses.get(0) ?? 0;
    report.problems.push(...load.problems.map((line) => `${round}: ${line}`));
  }

  let startMs = 100;
  for (const [n, kind] of rounds.entries()) {
    const round = `round ${n + 1} (${kind})`;
    // Sometimes, the server has just begun to accept connections.
    if (kind === 'kill at start') await killAtStart(startMs * 1.3);
    const before = performance.now();
    const servers = [await start()];
    startMs = performance.now() - before;
    await compare(round, servers);
    if (kind === 'kill one of two') servers.push(await start());
    await runRound(round, kind, servers);
  }
  await compare('the end', [await start()]);
  const integrity = checkIntegrity(join(folder, 'plants.db'));
  if (integrity !== 'ok') report.problems.push(integrity);
  return report;
}
