import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { table } from '../support/report.ts';
import { root } from '../support/sources.ts';
import { bareName, maxDeviation } from './rounds.ts';
import type { Figures } from './rounds.ts';
import { fastifyName, fastifyPgName, memoryName, ownName, postgresName, slow, threadName } from './servers.ts';
import { restartName, rowName } from './workloads.ts';

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

/** The workloads in the tables, with their descriptions. */
const descriptions = {
  create: 'create',
  delete: 'delete',
  'list 20': 'list of 20 plants out of 1000',
  'list 1000': 'list of 1000 plants',
  'list 20 anywhere': 'list of 20 plants that is not cached',
  '80 % list 20, 20 % create': 'four lists of 20 plants for each create, by the same user',
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
  const workloadTable = (titles: readonly string[], cells: (many: string, one: string) => string[]): string =>
    table(
      ['Workload', ...titles],
      Object.entries(descriptions).map(([name, shown]) => [shown, ...cells(rowName(name, 64), rowName(name, 1))]),
    );
  const serverTable = (row: string, servers: readonly string[], columns: Record<string, string>): string =>
    table(
      ['Server', ...Object.values(columns)],
      servers.map((server) => [
        server.replace(slow(''), ''),
        ...Object.keys(columns).map((key) => grouped(figure(row, server, key), key === 'p99Ms' ? 1 : 0)),
      ]),
    );
  const ratio = (row: string, key: string, name: string, to: string): string =>
    times(figure(row, name, key) / figure(row, to, key));
  const vsBare = (row: string, name = ownName): string => ratio(row, 'cpuMicros', name, bareName);
  const vsFastify = (row: string): string => ratio(row, 'requestsPerSecond', ownName, fastifyName);
  const chartRow = (title: string, ratioOf: (row: string) => string): string[] => [
    title,
    ...['create', 'delete', 'list 20'].map((name) => ratioOf(rowName(name, 64))),
  ];
  const vsFastifyPg = (row: string, keys: readonly string[]): string => {
    const sum = (name: string): number => keys.reduce((total, key) => total + figure(row, name, key), 0);
    return `${grouped(sum(postgresName), 0)} (${times(sum(postgresName) / sum(fastifyPgName))})`;
  };
  const both = ['cpuMicros', 'databaseMicros'];
  return {
    run: describeRun(results),
    chart:
      `The chart shows a run on ${date} at commit ${commit}: ${machine}, 64 connections.\n\n` +
      table(
        ['Plant Store with SQLite', 'create', 'delete', 'list of 20 plants'],
        [
          chartRow('CPU time vs. bare node:http', vsBare),
          chartRow('requests/s vs. Fastify with better-sqlite3', vsFastify),
        ],
      ),
    sqlite: workloadTable(
      [
        ...['CPU time vs. node:http', 'the same with `commitThread`', 'the same in memory'],
        ...['Requests/s vs. Fastify', 'the same with one connection'],
      ],
      (many, one) => [
        ...[ownName, threadName, memoryName].map((name) => vsBare(many, name)),
        ...[many, one].map(vsFastify),
      ],
    ),
    postgres: workloadTable(['Server', 'PostgreSQL', 'Both', 'Both, with one connection'], (many, one) => [
      ...[['cpuMicros'], ['databaseMicros'], both].map((keys) => vsFastifyPg(many, keys)),
      vsFastifyPg(one, both),
    ]),
    whole: serverTable(rowName('whole list', 1), [ownName, fastifyName, postgresName, fastifyPgName], {
      p50Ms: 'time, ms',
      loopDelayMs: 'event loop delay, 99th percentile, ms',
      peakMiB: 'peak memory, MiB',
    }),
    restart: serverTable(rowName(restartName, 1), [ownName, fastifyName], {
      requestsPerSecond: 'creates/s',
      cpuMicros: 'CPU time, µs',
    }),
    'slow-disk': serverTable(rowName('slow disk', 8), [ownName, threadName, fastifyName].map(slow), {
      requestsPerSecond: 'creates/s',
      besidePerSecond: 'lists/s',
      p99Ms: 'list, 99th percentile, ms',
      loopDelayMs: 'event loop delay, 99th percentile, ms',
    }),
  };
}

function describeRun({ date, commit, machine, rounds, seconds, rows }: Results): string {
  const repeated = rows.reduce((sum, row) => sum + Math.max(0, row.rounds - rounds), 0);
  const missing = rows.reduce((sum, row) => sum + Math.max(0, rounds - row.steady), 0);
  return (
    `All tables on this page are of one run, on ${date} at commit ${commit}: ${machine}. Each figure is the median ` +
    `of ${rounds} rounds, in which each server is measured for ${seconds} s. A round counts only if the CPU time of ` +
    `bare node:http is within ${maxDeviation * 100}% of its median over all rounds. Of ${rows.length * rounds} ` +
    `rounds, ${repeated} were repeated for this reason, and ${missing} could not be replaced by a steady one.`
  );
}

function times(ratio: number): string {
  if (Number.isNaN(ratio)) return '–';
  return `${ratio < 10 ? ratio.toFixed(ratio < 1 ? 2 : 1) : ratio.toFixed(0)} ×`;
}

function grouped(value: number, decimals: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
