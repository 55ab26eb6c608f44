import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStorage } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { FuzzedServer } from './fuzzed-server.ts';
import { serverProperty } from './property.ts';

/** Where the server stores its plants. */
export type StorageName = 'memory' | 'sqlite';

export interface SearchOptions {
  readonly storage: StorageName;
  /** The seed of the first round. Each following round adds 1. */
  readonly seed: number;
  /** The path of a case in the first round, from a report. Only that case is run. */
  readonly path?: string | undefined;
  /** No round starts after this many milliseconds. */
  readonly ms: number;
}

export interface SearchResult {
  readonly cases: number;
  readonly seeds: string;
  /** Reports of the failed cases, shrunk. */
  readonly found: string[];
}

/** The number of cases in a round. Each round has its own seed; a seed and a path identify a case. */
const casesInRound = 50;
/** The time limit for shrinking a failed case. */
const maxShrinkMs = 60_000;

/** Runs rounds of cases against a real server until the time is over or `maxFound` cases have failed. */
export async function search({ storage, seed, path, ms }: SearchOptions, maxFound = 1): Promise<SearchResult> {
  const deadline = performance.now() + ms;
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-fuzz-'));
  let files = 0;
  const start = (): Promise<FuzzedServer> =>
    FuzzedServer.start(storage === 'memory' ? new MemoryStorage() : new SqliteStorage(join(folder, `${files++}.db`)));
  let server = await start();
  let cases = 0;
  const property = serverProperty(async (run) => {
    cases++;
    try {
      await run(server);
    } catch (error) {
      // The next case must not start with the state that this one left.
      await server[Symbol.asyncDispose]();
      server = await start();
      throw error;
    }
  });
  const found: string[] = [];
  let round = seed;
  try {
    do {
      const options = path === undefined ? { interruptAfterTimeLimit: maxShrinkMs } : { path };
      const result = await fc.check(property, { seed: round, numRuns: casesInRound, ...options });
      if (result.failed && result.counterexample !== null) {
        const repeat = `npm run fuzz -- --storage ${storage} --seed ${round} --path ${result.counterexamplePath}`;
        const counterexample = fc.stringify(result.counterexample[0]);
        found.push(`${shortened(`${String(result.errorInstance)}\n${counterexample}`)}\nTo repeat it: ${repeat}`);
      }
      round++;
    } while (path === undefined && performance.now() < deadline && found.length < maxFound);
  } finally {
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
  return { cases, seeds: `${seed} to ${round - 1}`, found };
}

/** Replaces long repetitions in a text by their count. */
function shortened(text: string): string {
  return text.replace(/(.{1,10}?)\1{20,}/gs, (run: string, unit: string) => `${unit}…(× ${run.length / unit.length})`);
}
