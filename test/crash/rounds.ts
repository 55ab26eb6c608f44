import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../src/tokens/issue.ts';
import { listAll, startModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import type { Findings } from '../support/plant-model.ts';
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
  /** The Node.js arguments that run `plant-store`, and the servers' storage setting, which must name `plants.db`. */
  readonly program: { readonly command: readonly string[]; readonly storage: string };
  readonly rounds: readonly RoundKind[];
  /** Returns a random number from 0 to less than 1. */
  readonly random: () => number;
}

/** The result of all rounds. All lists are empty if the server works. */
export interface CrashReport extends Findings {
  rounds: number;
  /** The number of acknowledged writes. */
  acknowledged: number;
  /** The number of writes without a response. These writes may or may not have taken effect. */
  unanswered: number;
  /** The number of servers that were killed before or just after they began to accept connections. */
  killedAtStart: number;
  /** Wrong responses and exit codes. */
  readonly problems: string[];
  /** The result of SQLite's integrity check at the end: `ok`. */
  integrity: string;
}

const users = ['ada', 'bob', 'eve'];
const clients = 8;
/** A server must stop within this time after SIGTERM. */
const stopWithinMs = 10_000;

/** Runs the rounds on one file. After each round, compares all plants with the responses that the clients received. */
export async function runCrashRounds({ folder, program, rounds, random }: CrashOptions): Promise<CrashReport> {
  const tokens = new Map(users.map((user) => [user, issueToken(join(folder, 'tokens.json'), { user }).token]));
  const counts = { rounds: 0, acknowledged: 0, unanswered: 0, killedAtStart: 0 };
  const report: CrashReport = { ...counts, lost: [], resurrected: [], phantom: [], problems: [], integrity: '' };
  const model = new PlantModel();
  let startMs = 100;
  await using cleanUp = new CleanUp();

  function start(): ChildProcess {
    const args = [...program.command, 'serve', '--port', '0', '--storage', program.storage, '--log', 'off'];
    return spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  }

  function listening(child: ChildProcess): Promise<ServerProcess> {
    return untilListening(cleanUp, child, /^Plant Store listening on (\S+)\n/m);
  }

  async function startAndWait(): Promise<ServerProcess> {
    const before = performance.now();
    const server = await listening(start());
    startMs = performance.now() - before;
    return server;
  }

  async function killAtStart(): Promise<void> {
    const child = start();
    const exited = once(child, 'exit');
    if (random() < 0.3) await listening(child);
    else await sleep(random() * startMs);
    child.kill('SIGKILL');
    await exited;
    report.killedAtStart++;
  }

  async function compare(url: string): Promise<void> {
    for (const [user, token] of tokens) {
      const found = model.check(user, await listAll(url, token));
      for (const kind of ['lost', 'resurrected', 'phantom'] as const) {
        report[kind].push(...found[kind].map((line) => `round ${report.rounds}: ${line}`));
      }
    }
  }

  async function stopInTime(server: ServerProcess): Promise<void> {
    const timeout = setTimeout(() => void server.stop('SIGKILL'), stopWithinMs);
    const code = await server.stop();
    clearTimeout(timeout);
    const exit = code === null ? 'no exit in time' : `exit code ${code}`;
    if (code !== 0) report.problems.push(`round ${report.rounds}: ${exit} after SIGTERM: ${server.stderr()}`);
  }

  async function runRound(kind: RoundKind, first: ServerProcess): Promise<void> {
    const second = kind === 'kill one of two' ? await startAndWait() : undefined;
    const urls = [first.url, ...(second === undefined ? [] : [second.url])];
    const load = startModelClients(model, { urls, tokens, clients, random: Math.random }, () => kind === 'stop');
    await sleep(20 + random() * 250);
    if (kind === 'stop') await stopInTime(first);
    else await first.stop('SIGKILL');
    if (second !== undefined) {
      await sleep(random() * 150);
      await second.stop('SIGKILL');
    }
    await load.stop();
    report.acknowledged += load.acknowledged();
    report.unanswered += load.statuses.get(0) ?? 0;
    report.problems.push(...load.problems.map((line) => `round ${report.rounds}: ${line}`));
  }

  for (const kind of rounds) {
    report.rounds++;
    for (let times = kind === 'kill at start' ? 1 + Math.floor(random() * 3) : 0; times > 0; times--) {
      await killAtStart();
    }
    const first = await startAndWait();
    await compare(first.url);
    await runRound(kind, first);
  }
  const last = await startAndWait();
  await compare(last.url);
  await stopInTime(last);
  report.integrity = checkIntegrity(join(folder, 'plants.db'));
  return report;
}
