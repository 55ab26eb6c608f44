import type { OwnedPlant } from '../../core/storage-adapter.ts';
import { addPlants, keyOf } from '../../transfer/add-plants.ts';
import { parseCommandLine } from '../command.ts';
import { setting, settings } from '../environment.ts';
import { interruptible } from '../interruption.ts';
import { TransferReport } from '../output/transfer-report.ts';
import { parsePlantLine, readLines } from '../plant-lines.ts';
import { runAsOwner } from '../run-as-owner.ts';
import { filesOf, parseStorage, withTarget } from '../storage.ts';

export const help = `Usage: plant-store import [--storage STORAGE] < plants.ndjson

Creates plants from standard input, one JSON object per line, as export writes
them. Plants that the storage already has are skipped. Nothing is overwritten:
if the storage has a different plant with the same user and id, the conflict is
reported. A line that is not a plant is reported with its number and skipped.
In both cases the exit code is 1.

Options:
  --storage STORAGE   sqlite:FILE or postgres://… (PLANT_STORE_STORAGE, else
                      DATABASE_URL; default sqlite:plants.db)
  -h, --help          show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values } = parseCommandLine(args, { storage: settings.storage });
  const location = parseStorage(setting('storage', values.storage), ['sqlite', 'postgres']);
  runAsOwner(...filesOf(location));
  return interruptible((signal) =>
    withTarget(location, async (target) => {
      const report = new TransferReport();
      signal.addEventListener('abort', () => process.stdin.destroy());
      try {
        return report.finish('Imported', await addPlants(readPages(report, signal), target, report), signal);
      } finally {
        // After a storage error, unread input would keep this process running.
        process.stdin.destroy();
      }
    }),
  );
}

/** Yields pages as standard input arrives. A page contains at most one plant with a given key. */
async function* readPages(report: TransferReport, signal: AbortSignal): AsyncGenerator<OwnedPlant[], void, undefined> {
  let number = 0;
  try {
    for await (const lines of readLines(process.stdin)) {
      let page = new Map<string, OwnedPlant>();
      for (const line of lines) {
        const owned = parsePlantLine(line);
        number++;
        if (typeof owned === 'string') report.onBadLine(number, owned);
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
