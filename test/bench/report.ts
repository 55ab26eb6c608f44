import { cpus } from 'node:os';
import { floorName, ownName } from './candidates.ts';

/** The medians over all rounds of one candidate. */
export interface Measurement {
  readonly workload: string;
  readonly connections: number;
  readonly candidate: string;
  /** User and system time of the server process, for each request. */
  readonly cpuMicros: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** How much of one CPU the load's generator took, 0 to 1. */
  readonly generatorLoad: number;
}

/** Over this the generator, not the server, decides how many requests there are a second. */
const maxGeneratorLoad = 0.85;

/** The candidates of one workload at one number of connections, as lines of text. */
export function tableOf(measurements: readonly Measurement[]): string {
  const [first] = measurements;
  if (first === undefined) return '';
  const floor = measurements.find(({ candidate }) => candidate === floorName);
  const own = measurements.find(({ candidate }) => candidate === ownName);
  const header = ['', 'CPU µs/request', '× floor', '× ours', 'requests/s', '× floor', '× ours', 'p50 ms', 'p99 ms'];
  const rows = measurements.map((each) => [
    each.candidate,
    each.cpuMicros.toFixed(1),
    ratio(each.cpuMicros, floor?.cpuMicros),
    ratio(each.cpuMicros, own?.cpuMicros),
    each.requestsPerSecond.toFixed(0) + (each.generatorLoad > maxGeneratorLoad ? ' *' : ''),
    ratio(each.requestsPerSecond, floor?.requestsPerSecond),
    ratio(each.requestsPerSecond, own?.requestsPerSecond),
    each.p50Ms.toFixed(2),
    each.p99Ms.toFixed(2),
  ]);
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  const note = measurements.some(({ generatorLoad }) => generatorLoad > maxGeneratorLoad)
    ? ['* bound by the generator of the load']
    : [];
  return [`\n${first.workload}, ${first.connections} connections`, line(header), ...rows.map(line), ...note, ''].join(
    '\n',
  );
}

/** Quotients of two figures of one run. */
export function ratio(value: number, base: number | undefined): string {
  return base === undefined ? '' : (value / base).toFixed(2);
}

export function median(numbers: readonly number[]): number {
  return quantile(Float64Array.from(numbers).sort(), 0.5);
}

/** Of sorted numbers; NaN where there are none. */
export function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function describeMachine(): string {
  const [cpu] = cpus();
  return `Node.js ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}`;
}
