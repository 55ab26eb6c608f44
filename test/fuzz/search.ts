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

/** A failed case, shrunk. */
export interface FoundCase {
  readonly storage: StorageName;
  readonly seed: number;
  readonly path: string;
  readonly message: string;
  readonly counterexample: string;
}

export interface SearchResult {
  readonly cases: number;
  readonly seeds: string;
  readonly found: FoundCase[];
}

/** The number of cases in a round. Each round has its own seed; a seed and a path identify a case. */
const casesInRound = 50;
/** The time limit for shrinking a failed case. */
const maxShrinkMs = 60_000;

/** Runs rounds of cases against a real server until the time is over or `maxFound` cases have failed. */
export async function search(
  { storage, seed, path, ms }: SearchOptions,
  maxFound = 1,
  onFound: (found: FoundCase) => void = () => undefined,
): Promise<SearchResult> {
  const deadline = performance.now() + ms;
  const found: FoundCase[] = [];
  let cases = 0;
  let round = seed;
  do {
    const one = await searchRound(storage, round++, path, () => cases++);
    if (one !== undefined) {
      found.push(one);
      onFound(one);
    }
  } while (path === undefined && performance.now() < deadline && found.length < maxFound);
  return { cases, seeds: `${seed} to ${round - 1}`, found };
}

async function searchRound(
  storage: StorageName,
  seed: number,
  path: string | undefined,
  onCase: () => void,
): Promise<FoundCase | undefined> {
  const folder = storage === 'sqlite' ? await mkdtemp(join(tmpdir(), 'plant-store-fuzz-')) : undefined;
  let files = 0;
  const start = (): Promise<FuzzedServer> =>
    FuzzedServer.start(folder === undefined ? new MemoryStorage() : new SqliteStorage(join(folder, `${files++}.db`)));
  let server = await start();
  const property = serverProperty(async (run) => {
    try {
      await run(server);
    } catch (error) {
      // The next case must not start with the state that this one left.
      await server[Symbol.asyncDispose]();
      server = await start();
      throw error;
    }
  }, onCase);
  try {
    const result = await fc.check(property, {
      seed,
      numRuns: casesInRound,
      ...(path !== undefined && { path }),
      ...(path === undefined && { interruptAfterTimeLimit: maxShrinkMs }),
    });
    if (!result.failed || result.counterexample === null) return undefined;
    return {
      storage,
      seed,
      path: result.counterexamplePath,
      message: shortened(String(result.errorInstance)),
      counterexample: shortened(fc.stringify(result.counterexample[0])),
    };
  } finally {
    await server[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Replaces long repetitions in a text by their count. */
function shortened(text: string): string {
  return text.replace(/(.{1,10}?)\1{20,}/gs, (run: string, unit: string) => `${unit}…(× ${run.length / unit.length})`);
}
