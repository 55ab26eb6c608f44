import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { table } from '../support/report.ts';
import { root } from '../support/sources.ts';
import { fastifyName, fastifyPgName, memoryName, ownName, postgresName, slow } from './servers.ts';
import { threadName } from './servers.ts';

/** One server's figures, by name. */
export type Figures = Readonly<Record<string, number>>;

/** How far the bare server's CPU time in a steady round may be from its median, as a fraction of the median. */
export const maxDeviation = 0.15;

/** The medians of several servers over the same rounds. Only the rounds in which the machine was steady count. */
export interface RowResult {
  readonly name: string;
  readonly rounds: number;
  readonly steady: number;
  readonly medians: Readonly<Record<string, Figures>>;
}

/** The contents of results.json. Each row should have `rounds` steady rounds. */
export interface Results extends Readonly<Record<'date' | 'commit' | 'machine', string>> {
  readonly rounds: number;
  /** How many seconds each server is measured in each round. */
  readonly seconds: number;
  readonly rows: readonly RowResult[];
}

export const publishedFiles = ['README.md', 'docs/performance.md'];

/** Writes the results of a run to results.json, draws the chart, and writes the tables to the documentation. */
export async function publish(results: Results): Promise<void> {
  const { rows, ...run } = results;
  // Each row is on its own line, so that a diff shows what changed.
  const lines = rows.map((row) => JSON.stringify(row)).join(',\n');
  const json = `${JSON.stringify(run).slice(0, -1)},"rows":[\n${lines}\n]}\n`;
  await writeFile(join(root, 'test/bench/results.json'), json);
  await writeFile(join(root, 'test/bench/chart.svg'), drawChart(results));
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
  const { date, commit, machine, rows } = results;
  const figure = (row: string, server: string, ...keys: string[]): number => {
    const figures = rows.find(({ name }) => name === row)?.medians[server];
    return keys.reduce((sum, key) => sum + (figures?.[key] ?? NaN), 0);
  };
  const speed = (row: string, server: string, peer: string): string => {
    const ratio = figure(row, server, 'requestsPerSecond') / figure(row, peer, 'requestsPerSecond');
    return times(ratio, ratio < 1 && 'slower');
  };
  const cost = (row: string, server: string, peer: string, ...keys: string[]): string => {
    const own = figure(row, server, ...keys);
    const ratio = own / figure(row, peer, ...keys);
    return `${rounded(own)} (${times(ratio, ratio > 1 && 'more')})`;
  };
  const rowsWith = (server: string): string[] => rows.flatMap(({ name, medians }) => (server in medians ? [name] : []));
  const pairs = [
    [ownName, fastifyName],
    [postgresName, fastifyPgName],
  ] as const;
  return {
    run: describeRun(results),
    chart: `Measured on ${date} at commit ${commit}: ${machine}.\n\n${table(
      [
        'Requests/s vs. Fastify',
        'SQLite, 64 connections',
        '1 connection',
        'PostgreSQL, 64 connections',
        '1 connection',
      ],
      ['create', 'delete', 'list 20', 'uncached list 20', 'create after a restart'].map((kind) => [
        kind,
        ...pairs.flatMap(([server, peer]) =>
          ['64 connections', '1 connection'].map((connections) => speed(`${kind}, ${connections}`, server, peer)),
        ),
      ]),
    )}`,
    sqlite: table(
      ['Workload', 'CPU time vs. node:http', 'with `commitThread`', 'in memory', 'Requests/s vs. Fastify'],
      rowsWith(ownName).map((row) => [
        row,
        ...[ownName, threadName, memoryName].map((server) => times(figure(row, server, 'ratio'))),
        speed(row, ownName, fastifyName),
      ]),
    ),
    postgres: table(
      ['Workload', 'Server, µs', 'PostgreSQL, µs', 'Both, µs', 'Requests/s vs. Fastify'],
      rowsWith(postgresName).map((row) => [
        row,
        ...[['cpuMicros'], ['databaseMicros'], ['cpuMicros', 'databaseMicros']].map((keys) =>
          cost(row, postgresName, fastifyPgName, ...keys),
        ),
        speed(row, postgresName, fastifyPgName),
      ]),
    ),
    whole: table(
      ['Server', 'time, ms', 'event loop delay, 99th percentile, ms', 'peak memory, MiB'],
      pairs.map(([server, peer]) => [
        server,
        ...['p50Ms', 'loopDelayMs', 'peakMiB'].map((key) => cost('whole list, 1 connection', server, peer, key)),
      ]),
    ),
    'slow-disk': table(
      ['Server', 'creates/s', 'lists/s', 'list, 99th percentile, ms', 'event loop delay, 99th percentile, ms'],
      [ownName, threadName, fastifyName].map((server) => [
        server,
        ...['requestsPerSecond', 'besidePerSecond', 'p99Ms', 'loopDelayMs'].map((key) =>
          rounded(figure('slow disk', slow(server), key)),
        ),
      ]),
    ),
  };
}

function describeRun({ date, commit, machine, rounds, seconds, rows }: Results): string {
  const repeated = rows.reduce((sum, row) => sum + Math.max(0, row.rounds - rounds), 0);
  const missing = rows.reduce((sum, row) => sum + Math.max(0, rounds - row.steady), 0);
  const spreads = rows
    .flatMap(({ medians }) => Object.values(medians))
    .flatMap(({ lowerRatio = NaN, upperRatio = NaN }) => (upperRatio > lowerRatio ? upperRatio / lowerRatio - 1 : []));
  const [typical, largest] = [0.5, 1].map((share) => `${(quantile(spreads, share) * 100).toFixed(0)}%`);
  return (
    `All tables on this page come from one run, on ${date} at commit ${commit}: ${machine}. Each figure is the ` +
    `median of up to ${rounds} steady rounds. In a round, each server is measured for ${seconds} s, or for ${seconds * 4} s ` +
    `with whole lists or a slow disk. A round is steady if the CPU time of bare node:http is within ` +
    `${maxDeviation * 100}% of its median over all rounds. Of ` +
    `${rows.length * rounds} rounds, ${repeated} were repeated, and ${missing} could not be replaced by a steady ` +
    `one. ` +
    (spreads.length === 0
      ? ''
      : `The quartiles of a row's CPU time compared with node:http differ by ${typical} in the median, ` +
        `at most ${largest}.`)
  );
}

/** Returns a quantile with linear interpolation, to five digits. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = Float64Array.from(numbers).sort();
  const position = (sorted.length - 1) * share;
  const [below = NaN, above = NaN] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return Number((below + (above - below) * (position % 1)).toPrecision(5));
}

function times(ratio: number, remark: string | false = false): string {
  if (Number.isNaN(ratio)) return '–';
  const shown = ratio.toFixed(ratio < 10 ? 2 : 0);
  return `${shown} ×${remark && shown !== '1.00' ? `, ${remark}` : ''}`;
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Draws bars of the CPU time per request with 64 connections. */
function drawChart({ date, commit, machine, rows }: Results): string {
  const panels = ['create', 'delete', 'list 20', 'list 1000'].map((kind, panel) => {
    const medians = rows.find(({ name }) => name === `${kind}, 64 connections`)?.medians ?? {};
    const largest = Math.max(...Object.values(medians).map(({ cpuMicros = 0 }) => cpuMicros));
    const bars = Object.entries(medians).map(([server, { cpuMicros = 0 }], n) => {
      const [width, color] = [(220 * cpuMicros) / largest, server.startsWith('Plant Store') ? '#2e7d32' : '#b0bec5'];
      return `<g transform="translate(0, ${n * 20 + 18})"><text x="-6" text-anchor="end">${panel % 2 ? '' : server}</text>
<rect y="-12" width="${width.toFixed(1)}" height="16" fill="${color}"/>
<text x="${(width + 4).toFixed(1)}">${rounded(cpuMicros)}</text></g>`;
    });
    const place = `translate(${240 + (panel % 2) * 300}, ${70 + Math.floor(panel / 2) * 180})`;
    return `<g transform="${place}"><text font-weight="bold">${kind}, µs</text>\n${bars.join('\n')}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 410" font-family="sans-serif" font-size="12">
<rect width="840" height="410" fill="white"/>
<text x="10" y="24" font-size="14" font-weight="bold">CPU time of the server process per request, 64 connections</text>
<text x="10" y="42">${machine}, ${date}, ${commit}</text>
${panels.join('\n')}
</svg>
`;
}
