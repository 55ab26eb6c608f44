import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { table } from '../support/report.ts';
import { root } from '../support/sources.ts';

/** One server's figures, by name. */
export type Figures = Readonly<Record<string, number>>;

/** The medians of several servers over the same rounds. Only the rounds in which the machine was steady count. */
export interface RowResult {
  readonly name: string;
  readonly rounds: number;
  readonly steady: number;
  readonly medians: Readonly<Record<string, Figures>>;
}

/** The contents of results.json. */
export interface Results extends Readonly<Record<'date' | 'commit' | 'machine', string>> {
  readonly rows: readonly RowResult[];
}

export const publishedFiles = ['README.md', 'docs/performance.md'];

const sqlite = 'Plant Store, SQLite';
const thread = 'Plant Store, SQLite, commitThread';
const postgres = 'Plant Store, PostgreSQL';
const peers = { [sqlite]: 'Fastify + better-sqlite3', [postgres]: 'Fastify + pg' } as const;

/** Writes the results of a run to results.json, draws the chart, and writes the tables to the documentation. */
export async function publish(machine: string, rows: readonly RowResult[]): Promise<void> {
  const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
    encoding: 'utf8',
  }).trim();
  const run = { date: new Date().toISOString().slice(0, 10), commit, machine };
  // Each row is on its own line, so that a diff shows what changed.
  const lines = rows.map((row) => JSON.stringify(row)).join(',\n');
  const json = `${JSON.stringify(run).slice(0, -1)},"rows":[\n${lines}\n]}\n`;
  await writeFile(join(root, 'test/bench/results.json'), json);
  await writeFile(join(root, 'test/bench/chart.svg'), drawChart({ ...run, rows }));
  for (const file of publishedFiles) {
    const text = await readFile(join(root, file), 'utf8');
    await writeFile(join(root, file), await replacePassages(text, { ...run, rows }));
  }
}

/** Replaces the text between `<!-- bench:NAME -->` and `<!-- /bench -->`. */
export async function replacePassages(text: string, results: Results): Promise<string> {
  const passages = passagesOf(results);
  const replaced = text.replace(
    /(<!-- bench:(\S+) -->\n).*?(?=<!-- \/bench -->)/gs,
    (_, start: string, name: string) => `${start}\n${passages[name]}\n\n`,
  );
  return format(replaced, { ...(await resolveConfig(join(root, 'README.md'))), parser: 'markdown' });
}

/** Returns the passages of the documentation that describe a run, by the name in the comment that marks their place. */
export function passagesOf({ date, commit, machine, rows }: Results): Record<string, string> {
  const figure = (row: string, server: string, ...keys: string[]): number => {
    const figures = rows.find(({ name }) => name === row)?.medians[server];
    return keys.reduce((sum, key) => sum + (figures?.[key] ?? NaN), 0);
  };
  const ratio = (row: string, server: string): string => times(figure(row, server, 'ratio'));
  const speed = (row: string, server: keyof typeof peers): string => {
    const toPeer = figure(row, server, 'requestsPerSecond') / figure(row, peers[server], 'requestsPerSecond');
    return times(toPeer, toPeer < 1 && ', slower');
  };
  const cost = (row: string, server: keyof typeof peers, ...keys: string[]): string => {
    const micros = figure(row, server, ...keys);
    const toPeer = micros / figure(row, peers[server], ...keys);
    return `${rounded(micros)} (${times(toPeer, toPeer > 1 && ', more')})`;
  };
  const onSlowDisk = (server: string, key: string): string => rounded(figure('slow disk', `${server}, slow disk`, key));
  const rowsWith = (server: string): string[] => rows.flatMap(({ name, medians }) => (server in medians ? [name] : []));
  const whole = 'whole list, 1 connection';
  const kinds = ['create', 'delete', 'list 20', 'uncached list 20', 'create after a restart'];
  const total = (key: 'rounds' | 'steady'): number => rows.reduce((sum, row) => sum + row[key], 0);
  const spreads = rows
    .flatMap(({ medians }) => Object.values(medians))
    .map(({ lowerRatio = NaN, upperRatio = NaN }) => upperRatio / lowerRatio - 1)
    .filter((spread) => spread > 0);
  const [typical, largest] = [0.5, 1].map((share) => `${(quantile(spreads, share) * 100).toFixed(0)}%`);
  const place = `on ${date} at commit ${commit}: ${machine}`;
  return {
    run: `All tables on this page come from one run, ${place}.
Each figure is the median of the steady rounds. ${total('steady')} of ${total('rounds')} rounds were steady.
The CPU time compared with node:http varies from round to round: for half of the figures,
the upper quartile is at most ${typical} above the lower one, and for all, at most ${largest}.`,
    chart: `Measured ${place}.\n\n${tableOf('Requests/s vs. Fastify', kinds, {
      'SQLite, 64 connections': (kind) => speed(`${kind}, 64 connections`, sqlite),
      'SQLite, 1 connection': (kind) => speed(`${kind}, 1 connection`, sqlite),
      'PostgreSQL, 64 connections': (kind) => speed(`${kind}, 64 connections`, postgres),
      'PostgreSQL, 1 connection': (kind) => speed(`${kind}, 1 connection`, postgres),
    })}`,
    sqlite: tableOf('Workload', rowsWith(sqlite), {
      'CPU time vs. node:http': (row) => ratio(row, sqlite),
      'with `commitThread`': (row) => ratio(row, thread),
      'in memory': (row) => ratio(row, 'Plant Store, memory'),
      'Requests/s vs. Fastify': (row) => speed(row, sqlite),
    }),
    postgres: tableOf('Workload', rowsWith(postgres), {
      'Server, µs': (row) => cost(row, postgres, 'cpuMicros'),
      'PostgreSQL, µs': (row) => cost(row, postgres, 'databaseMicros'),
      'Both, µs': (row) => cost(row, postgres, 'cpuMicros', 'databaseMicros'),
      'Requests/s vs. Fastify': (row) => speed(row, postgres),
    }),
    whole: tableOf('Server', [sqlite, postgres] as const, {
      'time, ms': (server) => cost(whole, server, 'p50Ms'),
      'event loop delay, 99th percentile, ms': (server) => cost(whole, server, 'loopDelayMs'),
      'peak memory, MiB': (server) => cost(whole, server, 'peakMiB'),
    }),
    'slow-disk': tableOf('Server', [sqlite, thread, peers[sqlite]], {
      'creates/s': (server) => onSlowDisk(server, 'requestsPerSecond'),
      'lists/s': (server) => onSlowDisk(server, 'besidePerSecond'),
      'list, 99th percentile, ms': (server) => onSlowDisk(server, 'p99Ms'),
      'event loop delay, 99th percentile, ms': (server) => onSlowDisk(server, 'loopDelayMs'),
    }),
  };
}

function tableOf<Row extends string>(
  title: string,
  rows: readonly Row[],
  columns: Readonly<Record<string, (row: Row) => string>>,
): string {
  const cells = rows.map((row) => [row, ...Object.values(columns).map((cell) => cell(row))]);
  return table([title, ...Object.keys(columns)], cells);
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
  return `${shown} ×${remark && shown !== '1.00' ? remark : ''}`;
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Draws bars of the CPU time per request with 64 connections. */
function drawChart({ date, commit, machine, rows }: Results): string {
  const panels = ['create', 'delete', 'list 20', 'list 1000'].map((kind, panel) => {
    const medians = Object.entries(rows.find(({ name }) => name === `${kind}, 64 connections`)?.medians ?? {});
    const largest = Math.max(...medians.map(([, { cpuMicros = 0 }]) => cpuMicros));
    const bars = medians.map(([server, { cpuMicros = 0 }], n) => {
      const [y, width] = [n * 20 + 18, Math.round((220 * cpuMicros) / largest)];
      const color = server.startsWith('Plant Store') ? '#2e7d32' : '#b0bec5';
      return `<text x="-6" y="${y}" text-anchor="end">${panel % 2 ? '' : server}</text>
<rect y="${y - 12}" width="${width}" height="16" fill="${color}"/>
<text x="${width + 4}" y="${y}">${rounded(cpuMicros)}</text>`;
    });
    const place = `translate(${240 + (panel % 2) * 300}, ${70 + Math.floor(panel / 2) * 180})`;
    return `<g transform="${place}"><text font-weight="bold">${kind}, µs</text>\n${bars.join('\n')}</g>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 410" font-family="sans-serif" font-size="12">
<rect width="840" height="410" fill="white"/>
<text x="10" y="24" font-size="14" font-weight="bold">CPU time of the server process per request, 64 connections</text>
<text x="10" y="42">${machine}, ${date}, ${commit}</text>
${panels.join('')}</svg>
`;
}
