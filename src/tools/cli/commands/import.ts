import { maxPageBytes, maxPageLength } from '../../../core/page.ts';
import type { OwnedPlant } from '../../../core/storage-adapter.ts';
import { addPlants } from '../../../transfer/add-plants.ts';
import { keyOf } from '../../../transfer/find-plants.ts';
import { parseCommandLine } from '../command.ts';
import { setting, settings } from '../environment.ts';
import { interruptible } from '../interruption.ts';
import { TransferReport } from '../output/transfer-report.ts';
import { maxLineBytes, parsePlantLine, readLines } from '../plant-lines.ts';
import { parseStorage, withTarget } from '../storage.ts';

export const help = `Usage: plant-store import [--storage STORAGE] [--strict] < plants.ndjson

Creates plants from standard input, one JSON object per line, as export writes
them. Plants that the storage already has are skipped. Nothing is overwritten:
if the storage has a different plant with the same user and id, the conflict is
reported. A line that is not a plant is reported with its number and skipped.
In both cases the exit code is 1.

Options:
  --storage STORAGE   sqlite:FILE or postgres://… (PLANT_STORE_STORAGE, else
                      DATABASE_URL; default sqlite:plants.db)
  --strict            stop at the first line that is not a plant; the plants
                      before it are created
  -h, --help          show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values } = parseCommandLine(args, { storage: settings.storage, strict: { type: 'boolean' } });
  const location = parseStorage(setting('storage', values.storage), ['sqlite', 'postgres']);
  return interruptible((signal) =>
    withTarget(location, async (target) => {
      const report = new TransferReport();
      signal.addEventListener('abort', () => process.stdin.destroy());
      try {
        const pages = readPages(report, values.strict ?? false, signal);
        return report.finish('Imported', await addPlants(pages, target, report), signal);
      } finally {
        // After a storage error, unread input would keep this process running.
        process.stdin.destroy();
      }
    }),
  );
}

/** Reads standard input, and yields one page per commit. A page contains at most one plant with a given key. */
async function* readPages(
  report: TransferReport,
  isStrict: boolean,
  signal: AbortSignal,
): AsyncGenerator<OwnedPlant[], void, undefined> {
  let page = new Map<string, OwnedPlant>();
  let bytes = 0;
  try {
    for await (const lines of readLines(process.stdin, maxLineBytes)) {
      for (const line of lines) {
        const owned = parsePlantLine(line);
        if (typeof owned === 'string') {
          report.onBadLine(line.number, owned, isStrict);
          if (!isStrict) continue;
          yield [...page.values()];
          return;
        }
        if (owned === undefined) continue;
        if (page.size === maxPageLength || bytes >= maxPageBytes || page.has(keyOf(owned))) {
          yield [...page.values()];
          page = new Map();
          bytes = 0;
        }
        page.set(keyOf(owned), owned);
        bytes += line.bytes?.length ?? 0;
      }
    }
  } catch (error) {
    // After a signal, standard input is destroyed, which ends the iteration with an error.
    if (!signal.aborted) throw error;
  }
  yield [...page.values()];
}
