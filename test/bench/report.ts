import { cpus } from 'node:os';
import type { RowResult } from './results.ts';
import type { Round } from './rounds.ts';

/** The participant whose CPU time shows whether the machine was steady: it does the same in each round. */
export const bareName = 'bare node:http';

/** Formats the medians of a row, with the ratio of the CPU time to that of the bare participant. */
export function tableOf({ name, rounds, steady, medians }: RowResult): string {
  const bare = medians[bareName];
  const keys = Object.keys(Object.values(medians)[0] ?? {});
  const rows = Object.entries(medians).map(([participant, figures]) => [
    participant,
    ...keys.map((key) => (figures[key] ?? NaN).toPrecision(4)),
    bare === undefined ? '' : (figures.cpuMicros / bare.cpuMicros).toFixed(2),
  ]);
  return `\n${name}: ${steady} of ${rounds} rounds were steady\n${aligned(['', ...keys, '× bare'], rows)}`;
}

/** Compares the CPU time of this build with the bare server and with other builds, round by round. */
export function comparisonOf(rounds: readonly Round[], all: readonly { name: string; base: string }[]): string {
  const compared = all.filter(({ name }) => name !== bareName);
  const rows = compared.map(({ name, base: own }) => {
    const other = name === own ? bareName : name;
    const ratios = rounds.map((round) => (round.get(own)?.cpuMicros ?? NaN) / (round.get(other)?.cpuMicros ?? NaN));
    const sorted = Float64Array.from(ratios.filter((each) => !Number.isNaN(each))).sort();
    const quantiles = [0, 0.25, 0.5, 0.75, 1].map((share) => quantile(sorted, share).toFixed(3));
    return [`${own} to ${other}`, ...quantiles, String(sorted.length)];
  });
  return aligned(['ratio of CPU time in each round', 'min', '25 %', 'median', '75 %', 'max', 'rounds'], rows);
}

/** Formats rows of cells with aligned columns. All columns but the first are aligned on the right. */
function aligned(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return [header, ...rows].map((row) => `${line(row)}\n`).join('');
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
