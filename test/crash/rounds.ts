import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueToken } from '../../src/tokens/issue.ts';
import { listAll, startModelClients } from '../support/model-clients.ts';
import { PlantModel } from '../support/plant-model.ts';
import { startCrashServer } from './server.ts';
import type { CrashServer } from './server.ts';

/** How a round ends: one server killed, also while it starts, one of two, or stopped as it should be. */
export const roundKinds = ['kill', 'kill at start', 'kill one of two', 'stop'] as const;
export type RoundKind = (typeof roundKinds)[number];

/** How to crash a server again and again. */
export interface CrashOptions {
  /** An empty folder. */
  readonly folder: string;
  /** What Node.js is to run as `plant-store`. */
  readonly command: readonly string[];
  readonly rounds: readonly RoundKind[];
  /** A number from 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/** What became of the plants. */
export interface CrashTally {
  rounds: number;
  /** Creates and deletes that were acknowledged. */
  acknowledged: number;
  /** Creates and deletes without an answer. */
  unknown: number;
  /** Servers that were killed before they listened, or the moment they did. */
  killedAtStart: number;
  readonly lost: string[];
  readonly resurrected: string[];
  readonly phantom: string[];
  /** Anything else that must not be. */
  readonly problems: string[];
  /** What SQLite says of the file in the end: `ok`. */
  integrity: string;
}

const users = ['ada', 'bob', 'eve'];
const clients = 8;
/** The service promises to stop within 10 seconds. */
const stopWithinMs = 10_000;

/** Runs the rounds on one file; after each, all lists are compared with what the clients were answered. */
export async function runCrashRounds({ folder, command, rounds, random }: CrashOptions): Promise<CrashTally> {
  const tokens = new Map(users.map((user) => [user, issueToken(join(folder, 'tokens.json'), { user }).token]));
  const tally: CrashTally = {
    rounds: 0,
    acknowledged: 0,
    unknown: 0,
    killedAtStart: 0,
    lost: [],
    resurrected: [],
    phantom: [],
    problems: [],
    integrity: '',
  };
  const model = new PlantModel();
  let startMs = 100;
  const servers: CrashServer[] = [];

  function start(): CrashServer {
    const server = startCrashServer(command, folder);
    servers.push(server);
    return server;
  }

  async function started(): Promise<{ server: CrashServer; url: string }> {
    const before = performance.now();
    const server = start();
    const url = await server.listening;
    if (url === undefined) throw new Error(`Round ${tally.rounds}: the server did not start: ${server.stderr()}`);
    startMs = performance.now() - before;
    return { server, url };
  }

  async function killAtStart(): Promise<void> {
    const server = start();
    if (random() < 0.3) await server.listening;
    else await sleep(random() * startMs);
    await server.kill();
    tally.killedAtStart++;
  }

  async function compare(url: string): Promise<void> {
    for (const [user, token] of tokens) {
      const { lost, resurrected, phantom } = model.check(user, await listAll(url, token));
      for (const [all, found] of [
        [tally.lost, lost],
        [tally.resurrected, resurrected],
        [tally.phantom, phantom],
      ] as const) {
        all.push(...found.map((line) => `round ${tally.rounds}: ${line}`));
      }
    }
  }

  async function stopInTime(server: CrashServer): Promise<void> {
    const cancelWaiting = setTimeout(() => void server.kill(), stopWithinMs);
    const code = await server.kill('SIGTERM');
    clearTimeout(cancelWaiting);
    if (code !== 0) {
      tally.problems.push(
        `round ${tally.rounds}: the exit code of a stop was ${code ?? 'none in time'}: ${server.stderr()}`,
      );
    }
  }

  async function runRound(kind: RoundKind, first: { server: CrashServer; url: string }): Promise<void> {
    const second = kind === 'kill one of two' ? await started() : undefined;
    const urls = [first.url, ...(second === undefined ? [] : [second.url])];
    const load = startModelClients(model, { urls, tokens, clients, random: Math.random }, () => kind === 'stop');
    await sleep(20 + random() * 250);
    if (kind === 'stop') await stopInTime(first.server);
    else await first.server.kill();
    if (second !== undefined) {
      await sleep(random() * 150);
      await second.server.kill();
    }
    await load.stop();
    tally.acknowledged += load.acknowledged();
    tally.unknown += load.statuses.get(0) ?? 0;
    tally.problems.push(...load.problems.map((line) => `round ${tally.rounds}: ${line}`));
  }

  try {
    for (const kind of rounds) {
      tally.rounds++;
      for (let times = kind === 'kill at start' ? 1 + Math.floor(random() * 3) : 0; times > 0; times--) {
        await killAtStart();
      }
      const first = await started();
      await compare(first.url);
      await runRound(kind, first);
    }
    const last = await started();
    await compare(last.url);
    await stopInTime(last.server);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
  }
  tally.integrity = checkIntegrity(join(folder, 'plants.db'));
  return tally;
}

/** https://www.sqlite.org/pragma.html#pragma_integrity_check */
function checkIntegrity(path: string): string {
  const database = new DatabaseSync(path);
  const rows = database.prepare('PRAGMA integrity_check').all();
  database.close();
  return rows.map((row) => String(row['integrity_check'])).join('\n');
}
