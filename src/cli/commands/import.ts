import { fstatSync } from 'node:fs';
import { maxPageBytes, maxPageLength } from '../../storage/page-bounds.ts';
import type { OwnedPlant, StorageAdapter } from '../../storage/storage-adapter.ts';
import { addPlants } from '../../transfer/add-plants.ts';
import { parseCommandLine } from '../command.ts';
import type { Command } from '../command.ts';
import { withTarget } from '../data-storage.ts';
import { LineSplitter } from '../lines.ts';
import { forEachOverlapped } from '../../transfer/overlapped.ts';
import { maxLineBytes, parsePlantLine } from '../plant-line.ts';
import { Progress } from '../output/progress.ts';
import { Tally } from '../output/tally.ts';
import { storageSetting } from '../open-storage.ts';

const help = `Usage: plant-store import [--storage STORAGE] [--strict] < plants.ndjson

Creates plants from standard input, one JSON object per line, as export writes
them. Plants that the storage already has are skipped. Nothing is overwritten:
if the storage has a different plant with the same user and id, the conflict is
reported. A line that is not a plant is reported with its number and skipped.
In both cases the exit code is 1.

Options:
  --storage STORAGE   the storage to write: sqlite:FILE or postgres://…
                      (PLANT_STORE_STORAGE, else DATABASE_URL;
                      default sqlite:plants.db)
  --strict            stop at the first line that is not a plant; the plants
                      before it are created
  -h, --help          show this help

An environment variable in parentheses sets the default of its option.
`;

/** The `plant-store import` command. */
export const importPlants: Command = { help, run: runImport };

async function runImport(args: string[]): Promise<number> {
  const { values } = parseCommandLine(args, { storage: { type: 'string' }, strict: { type: 'boolean' } });
  return withTarget(storageSetting(values.storage), (target) => importAll(target, values.strict ?? false));
}

async function importAll(target: StorageAdapter, isStrict: boolean): Promise<number> {
  const input = fstatSync(process.stdin.fd);
  const progress = new Progress();
  const tally = new Tally((line) => {
    progress.tell(line);
  });
  try {
    await forEachOverlapped(readBatches(process.stdin, tally, isStrict), async ({ plants, readBytes }) => {
      await addPlants(target, plants, tally);
      progress.update(tally.plants, input.isFile() ? readBytes / input.size : undefined);
    });
  } finally {
    // After a storage error, unread input would keep this process running.
    process.stdin.destroy();
  }
  progress.finish('Imported', tally.added, String(tally));
  return tally.isComplete ? 0 : 1;
}

interface Batch {
  readonly plants: OwnedPlant[];
  /** The number of bytes of input that had been read when the batch was complete. */
  readonly readBytes: number;
}

/**
 * Reads plants from the input and yields one batch per commit. The plants of a batch have distinct keys. Both the
 * number of plants in a batch and its size in bytes are limited.
 */
async function* readBatches(
  input: AsyncIterable<Buffer>,
  tally: Tally,
  isStrict: boolean,
): AsyncGenerator<Batch, void, undefined> {
  const lines = new LineSplitter(maxLineBytes);
  let readBytes = 0;
  let plants: OwnedPlant[] = [];
  let keys = new Set<string>();
  let bytes = 0;
  const cut = (): Batch => {
    const batch = { plants, readBytes };
    [plants, keys, bytes] = [[], new Set(), 0];
    return batch;
  };
  for await (const piece of withEnd(input)) {
    readBytes += piece?.length ?? 0;
    for (const line of piece === undefined ? lines.end() : lines.push(piece)) {
      const parsed = parsePlantLine(line);
      if (parsed === undefined) continue;
      if ('problem' in parsed) {
        tally.badLine(line.number, parsed.problem);
        if (!isStrict) continue;
        yield cut();
        return;
      }
      const { owned } = parsed;
      const key = `${owned.plant.id} ${owned.user}`;
      if (plants.length === maxPageLength || bytes >= maxPageBytes || keys.has(key)) yield cut();
      plants.push(owned);
      keys.add(key);
      bytes += line.bytes?.length ?? 0;
    }
  }
  yield cut();
}

async function* withEnd(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined, void, undefined> {
  yield* input;
  yield undefined;
}
