import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { describeMachine } from './report.ts';
import type { Figures } from './rounds.ts';

/** A row: the figures of the participants that were measured in the same rounds. */
export interface RowResult {
  readonly name: string;
  /** How many rounds were run. */
  readonly rounds: number;
  /** In how many rounds the machine was steady. Only these rounds count for the medians. */
  readonly steady: number;
  readonly medians: Readonly<Record<string, Figures>>;
}

/** The contents of results.json. */
export interface Results {
  /** The day on which the run started. */
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  /** How many steady rounds each row should have. */
  readonly rounds: number;
  /** How many seconds each server is measured in each round. */
  readonly seconds: number;
  readonly rows: readonly RowResult[];
}

/** Returns the results of a run that starts now, without rows. */
export function startResults(settings: Pick<Results, 'rounds' | 'seconds'>): Results {
  const args = ['describe', '--always', '--dirty', '--exclude', '*'];
  const commit = execFileSync('git', args, { encoding: 'utf8' }).trim();
  const date = new Date().toISOString().slice(0, 10);
  return { date, commit, machine: describeMachine(), ...settings, rows: [] };
}

export async function writeResults(path: string, results: Results): Promise<void> {
  // Each participant is on its own line, so that a diff shows what changed.
  const lines = JSON.stringify(results).replaceAll(/\{"name"|\},(?=")/g, (found) =>
    found.startsWith('{') ? `\n${found}` : `${found}\n`,
  );
  await writeFile(path, `${lines}\n`);
}
