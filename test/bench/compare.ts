import { bareName, isOwn } from './candidates.ts';
import type { Candidate } from './candidates.ts';
import { aligned, quantile } from './report.ts';
import type { Sample } from './report.ts';

/** The figures of a candidate in each round; `undefined` for a round without enough requests. */
export interface Participant {
  readonly candidate: Candidate;
  readonly samples: readonly (Sample | undefined)[];
}

/** Compares each candidate of this build with the bare server and with its twins, round by round. */
export function comparisonOf(all: readonly Participant[]): string {
  const rows: string[][] = [];
  for (const own of all.filter(({ candidate }) => isOwn(candidate.name) && candidate.twin === undefined)) {
    for (const other of all) {
      const otherName = nameInComparison(other.candidate, own.candidate);
      if (otherName === undefined) continue;
      rows.push([`${own.candidate.name} to ${otherName}`, ...summaryOf(ratiosOf(own, other))]);
    }
  }
  if (rows.length === 0) return '';
  return aligned(['ratio of CPU µs/request in each round', 'min', '25 %', 'median', '75 %', 'max', 'rounds'], rows);
}

/** Returns `undefined` if the candidate is not compared with this one. */
function nameInComparison({ name, twin }: Candidate, own: Candidate): string | undefined {
  if (name === bareName) return name;
  return twin?.of === own.name ? twin.folder : undefined;
}

/** Returns the ratio of two candidates in each round, in ascending order. */
function ratiosOf(own: Participant, other: Participant): Float64Array {
  const ratios = own.samples.map((sample, round) => {
    const otherSample = other.samples[round];
    return sample === undefined || otherSample === undefined ? NaN : sample.cpuMicros / otherSample.cpuMicros;
  });
  return Float64Array.from(ratios.filter((ratio) => !Number.isNaN(ratio))).sort();
}

function summaryOf(sorted: Float64Array): string[] {
  const shares = [0, 0.25, 0.5, 0.75, 1];
  return [...shares.map((share) => quantile(sorted, share).toFixed(3)), String(sorted.length)];
}
