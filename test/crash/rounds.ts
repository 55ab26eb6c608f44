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
 * - `kill at start`: kills one or more servers while they start, then kills a server under load.
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
/** A server must stop within this time after SIGTERM. */
const stopWithinMs = 10_000;

/** Runs the rounds on one file. After each round, compares all plants with the responses that the clients received. */
export async function runCrashRounds({ folder, command, storage, rounds }: CrashOptions): Promise<CrashReport> {
  const tokens = new Map(users.map((user) => [user, issueToken(join(folder, 'tokens.json'), { user }).token]));
  const report: CrashReport = { acknowledged: 0, unanswered: 0, problems: [] };
  const model = new PlantModel();
  let startMs = 100;
  await using cleanUp = new CleanUp();

  function start(): ChildProcess {
    const args = [...command, 'serve', '--port', '0', '--storage', storage, '--log', 'off'];
    return spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  async function startAndWait(): Promise<ServerProcess> {
    const before = performance.now();
    const server = await untilListening(cleanUp, start(), /^Plant Store listening on (\S+)\n/m);
    startMs = performance.now() - before;
    return server;
  }

  async function killAtStart(): Promise<void> {
    const child = start();
    const exited = once(child, 'exit');
    // Sometimes, the server has just begun to accept connections.
    await sleep(Math.random() * startMs * 1.3);
    child.kill('SIGKILL');
    await exited;
  }

  async function compare(round: string, url: string): Promise<void> {
    for (const [user, token] of tokens) {
      for (const [kind, lines] of Object.entries(model.check(user, await listAll(url, token)))) {
        report.problems.push(...(lines as string[]).map((line) => `${round}: ${kind}: ${line}`));
      }
    }
  }

  async function stopInTime(round: string, server: ServerProcess): Promise<void> {
    const timeout = setTimeout(() => void server.stop('SIGKILL'), stopWithinMs);
    const code = await server.stop();
    clearTimeout(timeout);
    if (code !== 0) report.problems.push(`${round}: exit code ${code} after SIGTERM: ${server.stderr()}`);
  }

  async function runRound(round: string, kind: RoundKind, first: ServerProcess): Promise<void> {
    const second = kind === 'kill one of two' ? await startAndWait() : undefined;
    const urls = [first.url, ...(second === undefined ? [] : [second.url])];
    const load = startModelClients(model, { urls, tokens, clients: 8, random: Math.random }, () => kind === 'stop');
    await sleep(20 + Math.random() * 250);
    if (kind === 'stop') await stopInTime(round, first);
    else await first.stop('SIGKILL');
    await sleep(second === undefined ? 0 : Math.random() * 150);
    await second?.stop('SIGKILL');
    await load.stop();
    report.acknowledged += load.acknowledged();
    report.unanswered += load.statuses.get(0) ?? 0;
    report.problems.push(...load.problems.map((line) => `${round}: ${line}`));
  }

  for (const [n, kind] of rounds.entries()) {
    const round = `round ${n + 1} (${kind})`;
    const kills = kind === 'kill at start' ? 1 + Math.floor(Math.random() * 3) : 0;
    for (let times = 0; times < kills; times++) await killAtStart();
    const first = await startAndWait();
    await compare(round, first.url);
    await runRound(round, kind, first);
  }
  const last = await startAndWait();
  await compare('the end', last.url);
  await stopInTime('the end', last);
  const integrity = checkIntegrity(join(folder, 'plants.db'));
  if (integrity !== 'ok') report.problems.push(integrity);
  return report;
}
