import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeMachine } from './report.ts';
import type { Figures } from './rounds.ts';

/** A row: the participants that were measured together, in the same rounds. */
export interface RowResult {
  readonly name: string;
  /** How many rounds were run. */
  readonly rounds: number;
  /** In how many rounds the machine was steady. The medians are those of these rounds. */
  readonly steady: number;
  readonly medians: Readonly<Record<string, Figures>>;
}

/** What a run measures. A run can only be continued with the same settings. */
export interface Settings {
  /** How many steady rounds each row should have. */
  readonly rounds: number;
  /** How long each server is measured in each round. */
  readonly seconds: number;
  /** The regular expression that selects the candidates. */
  readonly candidates: string;
}

/** The contents of results.json. */
export interface Results extends Settings {
  /** The day on which the run started. */
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  readonly rows: readonly RowResult[];
}

const partialName = 'partial-results.json';

/** Returns the results of an interrupted run of the same build with the same settings, or new results. */
export async function continueResults(folder: string | undefined, settings: Settings): Promise<Results> {
  const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
    encoding: 'utf8',
  }).trim();
  const identity = { commit, machine: describeMachine(), ...settings };
  const created = { date: new Date().toISOString().slice(0, 10), ...identity, rows: [] };
  if (folder === undefined) return created;
  const path = join(folder, partialName);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return created;
  const found = JSON.parse(text) as Results;
  const isSame = Object.entries(identity).every(([key, value]) => found[key as keyof Results] === value);
  console.log(isSame ? `Continuing ${path}` : `Not continuing ${path}: it is of another build or has other settings`);
  return isSame ? found : created;
}

/** Saves the results of an unfinished run. */
export async function savePartialResults(folder: string, results: Results): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Each participant is on its own line, so that a diff shows what changed.
  const lines = JSON.stringify(results).replaceAll(/\{"name"|\},(?=")/g, (found) =>
    found.startsWith('{') ? `\n${found}` : `${found}\n`,
  );
  await writeFile(join(folder, partialName), `${lines}\n`);
}

/** Makes the saved results those of a finished run. Returns the path of their file. */
export async function finishResults(folder: string): Promise<string> {
  const path = join(folder, 'results.json');
  await rename(join(folder, partialName), path);
  return path;
}
