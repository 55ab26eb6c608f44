import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { table } from '../support/report.ts';
import { root } from '../support/sources.ts';
import { bareName, fastifyName, fastifyPgName, memoryName, ownName, postgresName, slow } from './servers.ts';
import { threadName } from './servers.ts';
import { restartName, rowName, slowDiskName } from './workloads.ts';

/** One server's figures, by name. */
export type Figures = Readonly<Record<string, number>>;

/** How far the bare server's CPU time in a steady round may be from its median, as a fraction of the median. */
export const maxDeviation = 0.15;

/** A row: the medians of the servers that were measured in the same rounds. */
export interface RowResult {
  readonly name: string;
  readonly rounds: number;
  /** In how many rounds the machine was steady. Only these rounds count for the medians. */
  readonly steady: number;
  readonly medians: Readonly<Record<string, Figures>>;
}

/** The contents of results.json. */
export interface Results {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  /** How many steady rounds each row should have. */
  readonly rounds: number;
  /** How many seconds each server is measured in each round. */
  readonly seconds: number;
  readonly rows: readonly RowResult[];
}

export const publishedFiles = ['README.md', 'docs/performance.md'];

/** The workloads in the tables, by their descriptions. */
const described = {
  create: 'create',
  delete: 'delete',
  'list of 20 plants out of 1000': 'list 20',
  'list of 1000 plants': 'list 1000',
  'list of 20 plants that is not cached': 'list 20 anywhere',
  'four lists of 20 plants for each create, by the same user': '80 % list 20, 20 % create',
};

/** Writes the results of a run to results.json, draws the chart, and writes the tables to the documentation. */
export async function publish(results: Results): Promise<void> {
  const here = join(root, 'test/bench');
  const path = join(here, 'results.json');
  // Each participant is on its own line, so that a diff shows what changed.
  const lines = JSON.stringify(results).replaceAll(/\{"name"|\},(?=")/g, (found) =>
    found.startsWith('{') ? `\n${found}` : `${found}\n`,
  );
  await writeFile(path, `${lines}\n`);
  execFileSync(process.execPath, [join(here, 'chart.js'), path, join(here, 'chart.svg')], { stdio: 'inherit' });
  for (const file of publishedFiles) {
    const text = await readFile(join(root, file), 'utf8');
    await writeFile(join(root, file), await replaceTables(text, results));
  }
}

/** Replaces the text between `<!-- bench:NAME -->` and `<!-- /bench -->`. */
export async function replaceTables(text: string, results: Results): Promise<string> {
  const style = { ...(await resolveConfig(join(root, 'README.md'))), parser: 'markdown', proseWrap: 'always' } as const;
  let replaced = text;
  for (const [name, content] of Object.entries(passagesOf(results))) {
    const place = new RegExp(`(<!-- bench:${name} -->\\n).*?(?=<!-- /bench -->)`, 's');
    const formatted = await format(content, style);
    replaced = replaced.replace(place, (_, start: string) => `${start}\n${formatted}\n`);
  }
  return replaced;
}

/** Returns the passages of the documentation that describe a run, by the name in the comment that marks their place. */
export function passagesOf(results: Results): Record<string, string> {
  const { date, commit, machine } = results;
  const figure = (row: string, server: string, key: string): number =>
    results.rows.find(({ name }) => name === row)?.medians[server]?.[key] ?? NaN;
  const cpuVsBare = (row: string, server = ownName): string =>
    times(figure(row, server, 'cpuMicros') / figure(row, bareName, 'cpuMicros'));
  const rateVsFastify = (row: string): string =>
    times(figure(row, ownName, 'requestsPerSecond') / figure(row, fastifyName, 'requestsPerSecond'));
  const cpuVsFastifyPg = (row: string, ...keys: string[]): string => {
    const [own, other] = [postgresName, fastifyPgName].map((server) =>
      keys.reduce((sum, key) => sum + figure(row, server, key), 0),
    ) as [number, number];
    return `${grouped(own)} (${times(own / other)})`;
  };
  const long = (server: string, key: string): string => grouped(figure(rowName('whole list', 1), server, key));
  const onSlowDisk = (server: string, key: string, decimals = 0): string =>
    grouped(figure(rowName(slowDiskName, 8), slow(server), key), decimals);
  return {
    run: describeRun(results),
    chart:
      `Measured on ${date} at commit ${commit}: ${machine}, 64 connections.\n\n` +
      tableOf(
        'Plant Store with SQLite',
        {
          'CPU time vs. bare node:http': (name: string) => cpuVsBare(rowName(name, 64)),
          'requests/s vs. Fastify with better-sqlite3': (name: string) => rateVsFastify(rowName(name, 64)),
          'the same with one connection': (name: string) => rateVsFastify(rowName(name, 1)),
        },
        {
          create: (ratio) => ratio('create'),
          delete: (ratio) => ratio('delete'),
          'list of 20 plants': (ratio) => ratio('list 20'),
          'the same, not cached': (ratio) => ratio('list 20 anywhere'),
        },
      ),
    sqlite: tableOf('Workload', described, {
      'CPU time vs. node:http': (name) => cpuVsBare(rowName(name, 64)),
      'the same with `commitThread`': (name) => cpuVsBare(rowName(name, 64), threadName),
      'the same in memory': (name) => cpuVsBare(rowName(name, 64), memoryName),
      'Requests/s vs. Fastify': (name) => rateVsFastify(rowName(name, 64)),
      'the same with one connection': (name) => rateVsFastify(rowName(name, 1)),
    }),
    restart: tableOf('Server', named(ownName, fastifyName), {
      'creates/s': (server) => grouped(figure(rowName(restartName, 1), server, 'requestsPerSecond')),
      'CPU time, µs': (server) => grouped(figure(rowName(restartName, 1), server, 'cpuMicros')),
    }),
    postgres: tableOf('Workload', described, {
      Server: (name) => cpuVsFastifyPg(rowName(name, 64), 'cpuMicros'),
      PostgreSQL: (name) => cpuVsFastifyPg(rowName(name, 64), 'databaseMicros'),
      Both: (name) => cpuVsFastifyPg(rowName(name, 64), 'cpuMicros', 'databaseMicros'),
      'Both, with one connection': (name) => cpuVsFastifyPg(rowName(name, 1), 'cpuMicros', 'databaseMicros'),
    }),
    whole: tableOf('Server', named(ownName, fastifyName, postgresName, fastifyPgName), {
      'time, ms': (server) => long(server, 'p50Ms'),
      'event loop delay, 99th percentile, ms': (server) => long(server, 'loopDelayMs'),
      'peak memory, MiB': (server) => long(server, 'peakMiB'),
    }),
    'slow-disk': tableOf('Server', named(ownName, threadName, fastifyName), {
      'creates/s': (server) => onSlowDisk(server, 'requestsPerSecond'),
      'lists/s': (server) => onSlowDisk(server, 'besidePerSecond'),
      'list, 99th percentile, ms': (server) => onSlowDisk(server, 'p99Ms', 1),
      'event loop delay, 99th percentile, ms': (server) => onSlowDisk(server, 'loopDelayMs'),
    }),
  };
}

/** Formats a table. A column is a function that returns the cell of a row. */
function tableOf<Row>(title: string, rows: Record<string, Row>, columns: Record<string, (row: Row) => string>): string {
  const titles = [title, ...Object.keys(columns)];
  const cells = Object.entries(rows).map(([shown, row]) => [shown, ...Object.values(columns).map((cell) => cell(row))]);
  return table(titles, cells);
}

function named(...servers: readonly string[]): Record<string, string> {
  return Object.fromEntries(servers.map((server) => [server, server]));
}

function describeRun({ date, commit, machine, rounds, seconds, rows }: Results): string {
  const repeated = rows.reduce((sum, row) => sum + Math.max(0, row.rounds - rounds), 0);
  const missing = rows.reduce((sum, row) => sum + Math.max(0, rounds - row.steady), 0);
  return (
    `All tables on this page are of one run, on ${date} at commit ${commit}: ${machine}. Each figure is the median ` +
    `of the steady rounds, at most ${rounds}; in each, a server is measured for ${seconds} s. A round is steady if the ` +
    `CPU time of bare node:http is within ${maxDeviation * 100}% of its median over all rounds. Of ` +
    `${rows.length * rounds} rounds, ${repeated} were repeated, and ${missing} could not be replaced by a steady one.`
  );
}

function times(ratio: number): string {
  if (Number.isNaN(ratio)) return '–';
  return `${ratio < 10 ? ratio.toFixed(ratio < 1 ? 2 : 1) : ratio.toFixed(0)} ×`;
}

function grouped(value: number, decimals = 0): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
