import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { creatingUser, listedUser, writeTokenFile } from '../bench/garden.ts';
import type { LoopReport } from './closed-loop.ts';
import { generate } from './generate.ts';
import { answerWithinMs, ServerUnderLoad } from './server.ts';
import type { Exit, Memory } from './server.ts';
import type { Row } from './table.ts';
import type { TallyReport } from './tally.ts';

/** What a scenario finds out by itself. */
export interface Outcome {
  /** Of the requests that are measured. */
  readonly tally?: TallyReport | undefined;
  readonly refused?: string;
  readonly notes?: readonly string[];
  /** Where the scenario itself ended the server, and how that went. */
  readonly health?: string;
  /** What takes longer, while the next scenarios go on; more notes. */
  readonly tail?: () => Promise<readonly string[]>;
}

/** A server that a scenario is played on. */
export interface Scene {
  readonly server: ServerUnderLoad;
  readonly port: number;
  readonly dist: string;
  readonly folder: string;
  readonly tokens: string;
  readonly database: string;
}

export interface StageOptions {
  /** The built package. */
  readonly dist: string;
  /** A temporary one. */
  readonly folder: string;
}

/** How a scenario differs from the others. */
export interface Setting {
  /** A database file to start with; without it the server makes a new one. */
  readonly database?: string;
  readonly maxOpenFiles?: number;
}

const warmUpMs = 1000;
const maxCollections = 10;
const nearIdleBytes = 10 * 2 ** 20;

/** Plays scenarios, each on a server of its own, and keeps what they show. */
export class Stage {
  readonly #options: StageOptions;
  readonly #rows: Promise<Row>[] = [];
  #baseline: LoopReport | undefined;

  constructor(options: StageOptions) {
    this.#options = options;
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** The rows so far, when all tails are over. */
  rows(): Promise<Row[]> {
    return Promise.all(this.#rows);
  }

  /** What 64 clients that create see when they are alone. */
  async baseline(): Promise<LoopReport> {
    if (this.#baseline === undefined) {
      await this.play('64 clients create (baseline)', async ({ port }) => {
        const tally = await generate('runLoop', {
          port,
          connections: 64,
          milliseconds: 5000,
          work: 'create',
          users: [creatingUser],
        }).report;
        this.#baseline = tally;
        return { tally, notes: [`${tally.answeredPerSecond.toFixed(0)} a second`] };
      });
    }
    if (this.#baseline === undefined) throw new Error('There is no baseline.');
    return this.#baseline;
  }

  /** Resolves when the next scenario may begin. */
  async play(scenario: string, work: (scene: Scene) => Promise<Outcome>, setting: Setting = {}): Promise<void> {
    const { dist } = this.#options;
    const folder = await mkdtemp(join(this.folder, 'scene-'));
    const tokens = join(folder, 'tokens.json');
    await writeTokenFile(tokens);
    const { database = join(folder, 'plants.db'), maxOpenFiles } = setting;
    const scene = { dist, folder, tokens, database };
    const server = await ServerUnderLoad.start({ ...scene, maxOpenFiles });
    const { port } = server;
    await generate('runLoop', {
      port,
      connections: maxOpenFiles === undefined ? 64 : 8,
      milliseconds: warmUpMs,
      work: 'create',
      users: [creatingUser],
    }).report;
    const idle = await server.memory();
    const idleFiles = server.watch.openFiles();
    server.watch.restart();
    const outcome = await work({ ...scene, server, port }).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    const row = finish(scenario, server, outcome, idle, idleFiles);
    this.#rows.push(row);
    // Without a tail there is nothing to go on beside.
    if (outcome.tail === undefined) await row;
  }
}

async function finish(
  scenario: string,
  server: ServerUnderLoad,
  outcome: Outcome,
  idle: Memory,
  idleFiles: number,
): Promise<Row> {
  const { tally, refused, notes = [], tail } = outcome;
  const late = await tail?.();
  const health = outcome.health ?? (await checkHealth(server));
  const peakBytes = server.watch.peakMemory();
  const left = await memoryLeft(server, idle);
  const connections = server.watch.mostOpenFiles() - idleFiles;
  const wasRunning = server.isRunning;
  const exit = await server.stop();
  return {
    scenario,
    connections,
    answered: tally === undefined ? NaN : answersOf(tally),
    refused: refused ?? (tally === undefined ? '' : refusedOf(tally)),
    p50Ms: tally?.p50Ms ?? NaN,
    p99Ms: tally?.p99Ms ?? NaN,
    peakBytes: peakBytes - idle.residentBytes,
    residentBytes: left.residentBytes - idle.residentBytes,
    usedBytes: left.usedBytes - idle.usedBytes,
    health,
    notes: [...notes, ...(late ?? []), ...faultNotes(server), ...(wasRunning ? exitNotes(exit) : [])],
  };
}

/** What a server still has that nobody asks anything of, a few seconds later at the latest. */
async function memoryLeft(server: ServerUnderLoad, idle: Memory): Promise<Memory> {
  let left: Memory = { usedBytes: NaN, residentBytes: NaN };
  for (let tries = 0; tries < maxCollections && server.isRunning; tries++) {
    left = await server.memory();
    if (left.usedBytes - idle.usedBytes < nearIdleBytes) break;
  }
  return left;
}

async function checkHealth(server: ServerUnderLoad): Promise<string> {
  if (!server.isRunning) return `no: it is gone, ${describeExit(server.exit)}`;
  try {
    const ms = await server.answerTime(listedUser);
    return ms < 1000 ? `yes, ${ms.toFixed(0)} ms` : `no: ${(ms / 1000).toFixed(1)} s`;
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'AbortError';
    return isLate ? `no: not within ${answerWithinMs / 1000} s` : `no: ${String(error)}`;
  }
}

function answersOf({ statuses }: TallyReport): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => sum + (Number(status) < 300 ? count : 0), 0);
}

/** What was not answered with a status under 300. */
function refusedOf({ statuses, closed, unanswered }: TallyReport): string {
  const parts = Object.entries(statuses)
    .filter(([status]) => Number(status) >= 300)
    .map(([status, count]) => `${count} × ${status}`);
  if (closed > 0) parts.push(`${closed} closed`);
  if (unanswered > 0) parts.push(`${unanswered} unanswered`);
  return parts.length === 0 ? '0' : parts.join(', ');
}

function faultNotes(server: ServerUnderLoad): string[] {
  return [...server.faults()].slice(0, 5).map(([fault, count]) => `${count} × in the log: ${fault}`);
}

function exitNotes(exit: Exit): string[] {
  return exit.code === 0 && exit.seconds < 3
    ? []
    : [`stopped with ${describeExit(exit)} after ${exit.seconds.toFixed(1)} s`];
}

export function describeExit({ code, signal }: Pick<Exit, 'code' | 'signal'>): string {
  return signal ?? `exit code ${String(code)}`;
}
