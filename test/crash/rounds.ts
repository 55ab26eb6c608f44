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

/**
 * What a round does:
 * - `kill`: kills a server under load.
 * - `kill at start`: kills a server while it starts, then kills a server under load.
 * - `kill one of two`: starts two servers on the file, kills one under load, and then kills the other.
 * - `stop`: stops a server under load with SIGTERM.
 */
const roundKinds = ['kill', 'kill at start', 'kill one of two', 'stop'] as const;

export interface CrashOptions {
  /** An empty folder. */
  readonly folder: string;
  /** The servers' storage setting, which must name `plants.db`. */
  readonly storage: string;
  /** How many rounds are run, with one kind after the other. */
  readonly rounds: number;
}

export interface CrashReport {
  acknowledged: number;
  /** Lost, resurrected and phantom plants, wrong responses and exit codes, and what SQLite's integrity check found. */
  readonly problems: string[];
}

/** Runs rounds on one file. After each round, compares all plants with the responses that the clients received. */
export async function runCrashRounds({ folder, storage, rounds }: CrashOptions): Promise<CrashReport> {
  const users = ['ada', 'bob', 'eve'];
  const tokens = new Map<string, string>();
  for (const user of users) tokens.set(user, (await issueToken(join(folder, 'tokens.json'), { user })).token);
  const report: CrashReport = { acknowledged: 0, problems: [] };
  const model = new PlantModel();
  await using cleanUp = new CleanUp();
  const args = ['--storage', storage, '--log-level', 'error'];
  const start = (): Promise<ServerProcess> => startServer(cleanUp, args, { cwd: folder });

  async function compare(round: string, { url }: ServerProcess): Promise<void> {
    for (const [user, token] of tokens) {
      const found = model.check(user, await listAll(url, token));
      for (const [kind, plants] of Object.entries(found) as [string, string[]][]) {
        report.problems.push(...plants.map((plant) => `before ${round}: ${kind}: ${plant}`));
      }
    }
  }

  async function runRound(round: string, signal: NodeJS.Signals, servers: readonly ServerProcess[]): Promise<void> {
    const load = startModelClients(model, { urls: servers.map(({ url }) => url), tokens, clients: 8 });
    for (const server of servers) {
      await sleep(20 + Math.random() * 250);
      const code = await server.stop(signal);
      if (code !== (signal === 'SIGTERM' ? 0 : null)) {
        report.problems.push(`${round}: exit code ${code ?? ''}: ${server.stderr()}`);
      }
    }
    await load.stop();
    report.acknowledged += load.acknowledged();
    report.problems.push(...load.problems.map((line) => `${round}: ${line}`));
  }

  let startMs = 100;
  for (let n = 0; n < rounds; n++) {
    const kind = roundKinds[n % roundKinds.length];
    const round = `round ${n + 1} (${kind ?? ''})`;
    if (kind === 'kill at start') {
      const child = spawnCommand(['serve', '--port', '0', ...args], { cwd: folder });
      const exited = once(child, 'exit');
      // Sometimes, the server has just begun to accept connections.
      await sleep(Math.random() * startMs * 1.3);
      child.kill('SIGKILL');
      await exited;
    }
    const before = performance.now();
    const server = await start();
    startMs = performance.now() - before;
    await compare(round, server);
    const servers = kind === 'kill one of two' ? [server, await start()] : [server];
    await runRound(round, kind === 'stop' ? 'SIGTERM' : 'SIGKILL', servers);
  }
  await compare('the end', await start());
  const integrity = checkIntegrity(join(folder, 'plants.db'));
  if (integrity !== 'ok') report.problems.push(integrity);
  return report;
}
