import fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStorage } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { Garden } from './garden.ts';
import { serverProperty } from './property.ts';

/** Where the server that is searched keeps its plants. */
export type StorageName = 'memory' | 'sqlite';

/** What to search, and how long. */
export interface Search {
  readonly storage: StorageName;
  /** The seed of the first round; those that follow count on from it. */
  readonly seed: number;
  /** Where in the first round to begin, as a report names it; only that case is run then. */
  readonly path?: string | undefined;
  /** No round begins after this many milliseconds. */
  readonly ms: number;
}

/** A case against the rules, shrunk. */
export interface Found {
  readonly storage: StorageName;
  readonly seed: number;
  readonly path: string;
  readonly message: string;
  readonly counterexample: string;
}

/** What came of a search. */
export interface Searched {
  readonly cases: number;
  readonly seeds: string;
  readonly found: Found[];
}

/** A round has this many cases; each has a seed of its own, so that any is found again by two numbers. */
const casesInRound = 50;
/** How long one finding may be shrunk. */
const maxShrinkMs = 60_000;

/** Runs rounds of cases against a real server, until the time is over or `maxFound` findings are there. */
export async function search(
  { storage, seed, path, ms }: Search,
  maxFound = 1,
  onFound: (found: Found) => void = () => undefined,
): Promise<Searched> {
  const deadline = performance.now() + ms;
  const found: Found[] = [];
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
): Promise<Found | undefined> {
  const folder = storage === 'sqlite' ? await mkdtemp(join(tmpdir(), 'plant-store-fuzz-')) : undefined;
  let files = 0;
  const open = (): Promise<Garden> =>
    Garden.open(folder === undefined ? new MemoryStorage() : new SqliteStorage(join(folder, `${files++}.db`)));
  let garden = await open();
  const property = serverProperty(async (run) => {
    try {
      await run(garden);
    } catch (error) {
      // What went wrong must not follow into the next case.
      await garden[Symbol.asyncDispose]();
      garden = await open();
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
    await garden[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** A text in which long repetitions are only counted. */
function shortened(text: string): string {
  return text.replace(/(.{1,10}?)\1{20,}/gs, (run: string, unit: string) => `${unit}…(× ${run.length / unit.length})`);
}
