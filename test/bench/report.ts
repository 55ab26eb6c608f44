import { cpus } from 'node:os';
import type { RowResult } from './results.ts';
import type { Figures, Round } from './rounds.ts';

/** The participant that does the same work in each round, so its CPU time shows whether the machine was steady. */
export const bareName = 'bare node:http';

/** Prints a row's medians. Also prints how each CPU time compares to that of the bare participant. */
export function printRow({ name, rounds, steady, medians }: RowResult): void {
  console.log(`\n${name}: ${steady} of ${rounds} rounds were steady`);
  const bareMicros = medians[bareName]?.cpuMicros ?? NaN;
  const withRatio = ([participant, figures]: [string, Figures]) =>
    [participant, { ...figures, '× bare': rounded(figures.cpuMicros / bareMicros) }] as const;
  console.table(Object.fromEntries(Object.entries(medians).map(withRatio)));
}

/** Compares this build's CPU time with that of the bare server and of the other builds, round by round. */
export function printComparison(rounds: readonly Round[], all: readonly { name: string; base: string }[]): void {
  const compared = all.filter(({ name }) => name !== bareName);
  const ratios = compared.map(({ name, base: own }) => {
    const other = name === own ? bareName : name;
    const each = rounds.map((round) => (round.get(own)?.cpuMicros ?? NaN) / (round.get(other)?.cpuMicros ?? NaN));
    const sorted = Float64Array.from(each.filter((ratio) => !Number.isNaN(ratio))).sort();
    const at = (share: number): number => rounded(quantile(sorted, share));
    return [
      `${own} to ${other}`,
      { min: at(0), '25 %': at(0.25), median: at(0.5), '75 %': at(0.75), max: at(1), rounds: sorted.length },
    ] as const;
  });
  console.table(Object.fromEntries(ratios));
}

/** Rounds to five digits, which is more precise than any measurement. */
export function rounded(value: number): number {
  return Number(value.toPrecision(5));
}

export function median(numbers: readonly number[]): number {
  return quantile(Float64Array.from(numbers).sort(), 0.5);
}

/** Returns a quantile of sorted numbers, with linear interpolation; NaN for an empty array. */
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

/** Formats rows as a Markdown table. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
