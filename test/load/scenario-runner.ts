import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { writeTokenFile } from '../bench/data-set.ts';
import type { ClosedLoopReport } from './clients/closed-loop.ts';
import type { StatsReport } from './clients/response-stats.ts';
import { runRegularClients } from './regular-clients.ts';
import { measureRow } from './measure-row.ts';
import { ServerUnderLoad } from './server.ts';
import type { Row, Verdict } from './table.ts';

/** What a scenario measures. */
export interface ScenarioResult {
  readonly verdict?: Verdict;
  /** The responses to the requests that are measured. */
  readonly stats?: StatsReport | undefined;
  /** Replaces the text of the column `Not served`. */
  readonly refused?: string;
  readonly notes?: readonly string[];
  /** Replaces the check of the server, if the scenario itself stopped it. */
  readonly health?: string;
  /** Resolves with more notes later, while the next scenarios run. */
  readonly laterNotes?: () => Promise<readonly string[]>;
}

/** The server that a scenario runs on, and its files. */
export interface ScenarioContext {
  readonly server: ServerUnderLoad;
  readonly port: number;
  readonly dist: string;
  readonly folder: string;
  readonly tokens: string;
  readonly database: string;
}

export interface RunnerOptions {
  /** The folder of the built package. */
  readonly dist: string;
  /** A temporary folder. */
  readonly folder: string;
}

export interface ScenarioSettings {
  /** A database file; by default the server creates an empty one. */
  readonly database?: string;
  /** The limit of open files of the server; by default that of this process. */
  readonly maxOpenFiles?: number;
  /** More options for Node.js. */
  readonly nodeOptions?: readonly string[];
  /** More options for `serve`. */
  readonly serveOptions?: readonly string[];
}

const warmUpMs = 1000;

/** Runs scenarios, each on its own server, and collects a row of figures for each. */
export class ScenarioRunner {
  readonly #options: RunnerOptions;
  readonly #rows: Promise<Row>[] = [];
  #baseline: ClosedLoopReport | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** Resolves with all rows when their later notes are complete. */
  rows(): Promise<Row[]> {
    return Promise.all(this.#rows);
  }

  /** Measures 64 regular clients alone, once. */
  async baseline(): Promise<ClosedLoopReport> {
    if (this.#baseline === undefined) {
      await this.run('64 clients create (baseline)', async ({ port }) => {
        const stats = await runRegularClients(port, 5000);
        this.#baseline = stats;
        return { stats, notes: [`${stats.servedPerSecond.toFixed(0)} per second`] };
      });
    }
    if (this.#baseline === undefined) throw new Error('There is no baseline.');
    return this.#baseline;
  }

  /** Runs a scenario. Resolves when the next one may start. */
  async run(
    scenario: string,
    work: (context: ScenarioContext) => Promise<ScenarioResult>,
    { database, ...options }: ScenarioSettings = {},
  ): Promise<void> {
    const folder = await mkdtemp(join(this.folder, 'scenario-'));
    const tokens = join(folder, 'tokens.json');
    await writeTokenFile(tokens);
    const files = { dist: this.#options.dist, folder, tokens, database: database ?? join(folder, 'plants.db') };
    const server = await ServerUnderLoad.start({ ...files, ...options });
    await runRegularClients(server.port, warmUpMs, options.maxOpenFiles === undefined ? 64 : 8);
    const idle = { memory: await server.memory(), openFiles: server.watch.openFiles() };
    server.watch.restart();
    const result = await work({ ...files, server, port: server.port }).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    const row = measureRow(scenario, server, result, idle);
    this.#rows.push(row);
    if (result.laterNotes === undefined) await row;
  }
}
