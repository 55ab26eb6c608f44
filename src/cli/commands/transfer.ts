import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorTable, isPlantStoreError } from '../../core/model/errors.ts';
import { parseExactJson } from '../../core/model/exact-json.ts';
import { isUser, parseNewPlant, plantJson } from '../../core/model/plant.ts';
import type { OwnedPlant, StorageAdapter } from '../../core/storage-adapter.ts';
import { hasResultCode, isSound, openToRead } from '../../storage/sqlite/database.ts';
import { damaged } from '../../storage/sqlite/file.ts';
import { Reader } from '../../storage/sqlite/sqlite-storage.ts';
import { addPlants, checked, keyOf } from '../../transfer/copy-plants.ts';
import type { CopyCounts, PlantConflict } from '../../transfer/copy-plants.ts';
import type { Settings } from '../command-line.ts';
import { addPlace } from '../errors.ts';
import { exitCodeOf, formatCount, print, printable, requireOutput, runInterruptibly, tell } from '../process.ts';
import { openStorage, parseStorage } from '../storage.ts';
import type { StorageLocation } from '../storage.ts';

const maxLineBytes = 1_048_576;
const maxShownLines = 10;

export async function copy(settings: Settings<'copy'>): Promise<number> {
  const [from, to] = [parseStorage(settings.from), parseStorage(settings.to)];
  return runInterruptibly((signal) =>
    withStorage(from, openSource, async (source) => {
      // Reads a page before the target is created: an unreadable source must not lead to an empty target. Unlike a
      // list, a scan can read a standby.
      const pages = source.scan()[Symbol.asyncIterator]();
      await pages.next();
      await pages.return?.();
      const counts = await addTo(to, checked(untilAborted(source.scan(), signal)));
      return finish('Copied', counts, 0, signal);
    }),
  );
}

async function* untilAborted<Page>(pages: AsyncIterable<Page>, signal: AbortSignal): AsyncGenerator<Page, void> {
  for await (const page of pages) {
    // Without this turn of the event loop, a copy between two SQLite files would not notice the signal.
    await nextTurn();
    if (signal.aborted) return;
    yield page;
  }
}

export async function exportPlants({ storage }: Settings<'export'>): Promise<number> {
  requireOutput();
  return withStorage(parseStorage(storage), openSource, async (source) => {
    let count = 0;
    for await (const page of source.scan()) {
      await print(page.map(toLine).join(''));
      count += page.length;
    }
    tell(`Exported ${formatCount(count, 'plant')}.`);
    return 0;
  });
}

function toLine({ user, plant }: OwnedPlant): string {
  return `{"user":${JSON.stringify(user)},"id":${plant.id},${plantJson(plant).slice(1)}\n`;
}

export async function importPlants({ storage }: Settings<'import'>): Promise<number> {
  const location = parseStorage(storage);
  let badLines = 0;
  const onBadLine = (number: number, problem: string): void => {
    badLines++;
    if (badLines <= maxShownLines) tell(`Line ${number} was skipped: ${problem}`);
    if (badLines === maxShownLines) tell('Further bad lines are only counted.');
  };
  return runInterruptibly(async (signal) => {
    signal.addEventListener('abort', () => process.stdin.destroy());
    const counts = await addTo(location, readPages(signal, onBadLine));
    return finish('Imported', counts, badLines, signal);
  });
}

/** Yields pages as standard input arrives. A page contains at most one plant with a given key. */
async function* readPages(
  signal: AbortSignal,
  onBadLine: (number: number, problem: string) => void,
): AsyncGenerator<OwnedPlant[], void, undefined> {
  let number = 0;
  try {
    for await (const lines of readLines(process.stdin)) {
      let page = new Map<string, OwnedPlant>();
      for (const line of lines) {
        const owned = parsePlantLine(line);
        number++;
        if (typeof owned === 'string') onBadLine(number, owned);
        if (typeof owned !== 'object') continue;
        if (page.has(keyOf(owned))) {
          yield [...page.values()];
          page = new Map();
        }
        page.set(keyOf(owned), owned);
      }
      yield [...page.values()];
    }
  } catch (error) {
    // After a signal, standard input is destroyed, which ends the iteration with an error.
    if (!signal.aborted) throw error;
  }
}

/**
 * Splits a stream of bytes into lines without terminators. Yields the lines that end in one chunk together. A line that
 * is longer than `maxLineBytes` can be truncated, but remains longer than `maxLineBytes`.
 */
export async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer[], void, undefined> {
  // Latin-1 preserves every byte, so invalid UTF-8 can be reported. Appending to a string does not copy it.
  let rest = '';
  for await (const chunk of input) {
    const [first = '', ...others] = chunk.toString('latin1').split('\n');
    if (rest.length <= maxLineBytes) rest += first;
    const last = others.pop();
    if (last === undefined) continue;
    yield [rest, ...others].map((line) => Buffer.from(line, 'latin1'));
    rest = last;
  }
  yield [Buffer.from(rest, 'latin1')];
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns a sentence if the line is not a plant, and `undefined` if it is blank. */
function parsePlantLine(line: Buffer): OwnedPlant | string | undefined {
  if (line.length > maxLineBytes) return 'it is longer than 1 MiB.';
  let user: unknown;
  try {
    // The decoder omits U+FEFF, a byte order mark, which some programs write at the start of a file.
    const text = decoder.decode(line);
    if (text.trim() === '') return undefined;
    const value = parseExactJson(text);
    ({ user } = (value ?? {}) as { user?: unknown });
    const plant = parseNewPlant(value);
    return isUser(user) ? { user, plant } : errorTable.invalid_user.message;
  } catch (error) {
    if (!isPlantStoreError(error)) return 'it is not JSON in UTF-8.';
    return isUser(user) ? `${error.message} Its user is ${quoted(user)}.` : error.message;
  }
}

function quoted(user: string): string {
  return printable(JSON.stringify(user));
}

function tellConflict({ user, plant: { id } }: PlantConflict): void {
  tell(`User ${quoted(user)} has a different plant with id ${id}, which was not changed.`);
}

/** Prints the counts. Returns the exit code. */
function finish(verb: string, counts: CopyCounts, badLines: number, signal: AbortSignal): number {
  const texts = [
    `${verb} ${formatCount(counts.added, 'plant')}`,
    `${formatCount(counts.existing, 'plant')} already existed`,
    formatCount(counts.conflicts, 'conflict'),
  ];
  if (badLines > 0) texts.push(formatCount(badLines, 'bad line'));
  tell(`${texts.join(', ')}.${signal.aborted ? ' Interrupted: run the command again to continue.' : ''}`);
  if (signal.aborted) return exitCodeOf(signal.reason as string);
  return counts.conflicts === 0 && badLines === 0 ? 0 : 1;
}

/** Adds plants to a file or table, which is created if it is missing. */
function addTo(location: StorageLocation, pages: AsyncIterable<OwnedPlant[]>): Promise<CopyCounts> {
  return withStorage(location, openStorage, async (storage) => {
    // The first operation creates a missing table, even if there is no plant.
    await storage.list('any user', { after: undefined, limit: 1 });
    return addPlants(pages, storage, { onConflict: tellConflict });
  });
}

type Source = Pick<StorageAdapter, 'scan' | 'close'>;

/** Opens an existing storage, and does not change it. */
function openSource(location: StorageLocation): Source {
  if (location.kind !== 'sqlite') return openStorage(location, false);
  const database = openToRead(location.place);
  return {
    scan: () => scanFile(database, location.place),
    close: async () => {
      database.close();
    },
  };
}

/** Yields the plants until a read fails. If the file is damaged, then throws an error. */
async function* scanFile(database: DatabaseSync, file: string): AsyncGenerator<OwnedPlant[], void> {
  let cause: unknown;
  try {
    yield* new Reader(database).scan();
    // A scan can omit plants without an error, for example if a page of the file contains a wrong number of rows.
    if (isSound(database)) return;
  } catch (error) {
    if (!hasResultCode(error, 'corrupt')) throw error;
    cause = error;
  }
  throw damaged(file, cause, ': plants may be missing');
}

/** Opens a storage, passes it to `work`, and closes it. */
async function withStorage<S extends Source, T>(
  location: StorageLocation,
  open: (location: StorageLocation) => S,
  work: (storage: S) => Promise<T>,
): Promise<T> {
  try {
    const storage = open(location);
    try {
      return await work(storage);
    } finally {
      await storage.close();
    }
  } catch (error) {
    throw addPlace(location.place, error);
  }
}
