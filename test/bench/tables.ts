import { fastifyName, fastifyPgName, memoryName, ownName, postgresName, threadName } from './candidates.ts';
import { importName, startName } from './first-seconds.ts';
import { bareName } from './report.ts';
import type { Results } from './results.ts';
import { maxDeviation } from './rounds.ts';
import type { Figures } from './rounds.ts';
import { scaleName, sizes } from './scale.ts';
import { slowDiskName } from './slow-disk.ts';
import { rowName } from './workloads.ts';

/** The workloads in the tables, with their descriptions. */
const descriptions = {
  create: 'create',
  delete: 'delete',
  'list 20': 'list of 20 plants out of 1000',
  'list 1000': 'list of 1000 plants',
  'list 20 anywhere': 'list of 20 plants that is not cached',
  '80 % list 20, 20 % create': 'four lists of 20 plants for each create, by the same user',
};

/**
 * Returns the Markdown passages that describe a run in the documentation. The key of a passage is the name in the
 * comment that marks its place, such as `sqlite` in `<!-- bench:sqlite -->`.
 */
export function tablesOf(results: Results): Record<string, string> {
  const figuresOf = (row: string, participant: string): Figures | undefined =>
    results.rows.find(({ name }) => name === row)?.medians[participant];
  const figure = (row: string, participant: string, key: string): number => figuresOf(row, participant)?.[key] ?? NaN;
  const ratio = (row: string, key: string, one: string, other: string): string =>
    times(figure(row, one, key) / figure(row, other, key));
  const workloadRows = (cells: (many: string, one: string) => string[]): string[][] =>
    Object.entries(descriptions).map(([name, description]) => [
      description,
      ...cells(rowName(name, 64), rowName(name, 1)),
    ]);
  /** Returns a table row for each server: its name, then each figure with the given number of decimals. */
  const serverRows = (row: string, names: Record<string, string>, decimals: Record<string, number>): string[][] =>
    Object.entries(names).map(([participant, shown]) => [
      shown,
      ...Object.entries(decimals).map(([key, digits]) => grouped(figure(row, participant, key), digits)),
    ]);

  const vsBare = (row: string, name: string): string => ratio(row, 'cpuMicros', name, bareName);
  const vsFastify = (row: string): string => ratio(row, 'requestsPerSecond', ownName, fastifyName);
  const sqlite = workloadRows((many, one) => [
    ...[ownName, threadName, memoryName].map((name) => vsBare(many, name)),
    vsFastify(many),
    vsFastify(one),
  ]);

  const sum = (row: string, name: string, keys: readonly string[]): number =>
    keys.reduce((total, key) => total + figure(row, name, key), 0);
  const vsFastifyPg = (row: string, keys: readonly string[]): string => {
    const own = sum(row, postgresName, keys);
    return `${grouped(own, 0)} (${times(own / sum(row, fastifyPgName, keys))})`;
  };
  const both = ['cpuMicros', 'databaseMicros'];
  const postgres = workloadRows((many, one) => [
    ...[['cpuMicros'], ['databaseMicros'], both].map((keys) => vsFastifyPg(many, keys)),
    vsFastifyPg(one, both),
  ]);

  const own = { [ownName]: 'Plant Store, SQLite' };
  const fastify = { [fastifyName]: 'Fastify and better-sqlite3' };
  const wholeNames = {
    ...own,
    ...fastify,
    [postgresName]: 'Plant Store, PostgreSQL',
    [fastifyPgName]: 'Fastify and pg',
  };
  const whole = serverRows(rowName('whole list', 1), wholeNames, { p50Ms: 0, loopDelayMs: 0, peakMiB: 0 });
  const scale = sizes.map((size) => [
    grouped(size, 0),
    ...['createMicros', 'deleteMicros', 'listMicros'].map((key) => grouped(figure(scaleName, String(size), key), 0)),
  ]);
  const slowNames = { ...own, [threadName]: 'Plant Store, SQLite, `commitThread`', ...fastify };
  const slow = serverRows(slowDiskName, slowNames, {
    createsPerSecond: 0,
    listsPerSecond: 0,
    p99Ms: 1,
    loopDelayMs: 1,
  });
  const startNames = { [bareName]: bareName, [memoryName]: 'Plant Store, memory', ...own, ...fastify };
  const start = serverRows(startName, startNames, { firstAnswerMs: 0, cpuMs: 0, createMicros: 0 });
  const imported = Object.keys(results.rows.find(({ name }) => name === importName)?.medians ?? {});
  const importNames = Object.fromEntries(
    imported.map((name) => [name, name === bareName ? '`node:http`' : `\`${name}\``]),
  );
  const imports = serverRows(importName, importNames, { importMs: 0, cpuMs: 0 });

  return {
    run: describeRun(results),
    chart: `The chart shows a run on ${results.date} at commit ${results.commit}: ${results.machine}, 64 connections.`,
    sqlite: table(
      'Workload|CPU time vs. node:http|the same with `commitThread`|the same in memory|Requests/s vs. Fastify|the same with one connection',
      sqlite,
    ),
    postgres: table('Workload|Server|PostgreSQL|Both|Both, with one connection', postgres),
    whole: table('Server|time, ms|event loop delay, 99th percentile, ms|peak memory, MiB', whole),
    scale: table('Stored plants|create, µs|delete, µs|list of 20 plants, µs', scale),
    'slow-disk': table(
      'Server|creates/s|lists/s|list, 99th percentile, ms|event loop delay, 99th percentile, ms',
      slow,
    ),
    start: table(
      'Server|first response, ms|CPU time until then, ms|CPU time of each of the first 2000 creates, µs',
      start,
    ),
    import: table('Module|time, ms|CPU time, ms', imports),
  };
}

function describeRun({ date, commit, machine, rounds, seconds, rows }: Results): string {
  const total = rows.length * rounds;
  const repeated = rows.reduce((sum, row) => sum + Math.max(0, row.rounds - rounds), 0);
  const missing = rows.reduce((sum, row) => sum + Math.max(0, rounds - row.steady), 0);
  return (
    `All tables on this page are of one run, on ${date} at commit ${commit}: ${machine}. Each figure is the median of ` +
    `${rounds} rounds, in which each server is measured for ${seconds} s. A round counts only if the CPU time of bare ` +
    `node:http in it is at most ${maxDeviation * 100}% from its median. Of ${total} rounds, ${repeated} were repeated ` +
    `for this reason, and ${missing} could not be replaced by a steady one.`
  );
}

function times(ratio: number): string {
  if (Number.isNaN(ratio)) return '–';
  return `${ratio < 10 ? ratio.toFixed(ratio < 1 ? 2 : 1) : ratio.toFixed(0)} ×`;
}

/** Formats a number with commas between groups of three digits. */
function grouped(value: number, decimals: number): string {
  if (Number.isNaN(value)) return '–';
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function table(header: string, rows: readonly (readonly string[])[]): string {
  const titles = header.split('|');
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
