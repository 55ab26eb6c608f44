import { cpus } from 'node:os';
import { bareName, ownName } from './candidates.ts';

/** The figures of one candidate in one round. */
export interface Sample {
  /** User and system time of the server process per request. */
  readonly cpuMicros: number;
  /** User and system time of all processes of PostgreSQL per request; 0 without PostgreSQL. */
  readonly databaseMicros: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The 99th percentile of the delay of the server's event loop. */
  readonly loopDelayMs: number;
  /** The fraction of one CPU that the load generator used, 0 to 1. */
  readonly generatorLoad: number;
}

/** The medians of all rounds of one candidate. */
export interface Measurement extends Sample {
  readonly workload: string;
  readonly connections: number;
  readonly candidate: string;
}

/** Above this, the load generator and not the server limits the requests per second. */
const maxGeneratorLoad = 0.85;

/** Formats the measurements of one workload with one number of connections as a table. */
export function tableOf(measurements: readonly Measurement[]): string {
  const [first] = measurements;
  if (first === undefined) return '';
  const bare = measurements.find(({ candidate }) => candidate === bareName);
  const own = measurements.find(({ candidate }) => candidate === ownName);
  const hasDatabase = measurements.some(({ databaseMicros }) => databaseMicros > 0);
  const header = [
    '',
    'CPU µs/request',
    ...(hasDatabase ? ['database', 'total'] : []),
    '× bare',
    '× ours',
    'requests/s',
    '× bare',
    '× ours',
    'p50 ms',
    'p99 ms',
    'loop',
  ];
  const rows = measurements.map((each) => [
    each.candidate,
    each.cpuMicros.toFixed(1),
    ...(hasDatabase ? [each.databaseMicros.toFixed(1), (each.cpuMicros + each.databaseMicros).toFixed(1)] : []),
    ratio(each.cpuMicros, bare?.cpuMicros),
    ratio(each.cpuMicros, own?.cpuMicros),
    each.requestsPerSecond.toFixed(0) + (each.generatorLoad > maxGeneratorLoad ? ' *' : ''),
    ratio(each.requestsPerSecond, bare?.requestsPerSecond),
    ratio(each.requestsPerSecond, own?.requestsPerSecond),
    each.p50Ms.toFixed(2),
    each.p99Ms.toFixed(2),
    each.loopDelayMs.toFixed(2),
  ]);
  const note = measurements.some(({ generatorLoad }) => generatorLoad > maxGeneratorLoad)
    ? '* limited by the load generator\n'
    : '';
  return `\n${first.workload}, ${first.connections} connections\n${aligned(header, rows)}${note}`;
}

/** Formats rows of cells with aligned columns. All columns but the first are aligned on the right. */
export function aligned(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return [header, ...rows].map((row) => `${line(row)}\n`).join('');
}

/** Formats the ratio of two figures of one run. */
export function ratio(value: number, base: number | undefined): string {
  return base === undefined ? '' : (value / base).toFixed(2);
}

export function median(numbers: readonly number[]): number {
  return quantile(Float64Array.from(numbers).sort(), 0.5);
}

/** Returns a quantile of sorted numbers, with linear interpolation; NaN if there are none. */
export function quantile(sorted: Float64Array, share: number): number {
  const position = (sorted.length - 1) * share;
  const [below = NaN, above = NaN] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position % 1);
}

export function describeMachine(): string {
  const [cpu] = cpus();
  const model = cpu?.model.trim() ?? 'unknown CPU';
  return `Node.js ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${model}`;
}
