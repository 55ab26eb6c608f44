import { addPlants } from '../../transfer/copy-plants.ts';
import type { Settings } from '../command-line.ts';
import { runInterruptibly, untilAborted } from '../interruption.ts';
import { TransferReport } from '../output/transfer-report.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, parseStorage, withSource, withTarget } from '../storage.ts';

export async function run(settings: Settings<'copy'>): Promise<number> {
  const from = parseStorage(settings.from, ['sqlite', 'postgres']);
  const to = parseStorage(settings.to, ['sqlite', 'postgres']);
  refuseRoot(...filesOf(from, to));
  return runInterruptibly((signal) =>
    withSource(from, (pages) =>
      withTarget(to, async (target) => {
        const report = new TransferReport();
        const counts = await addPlants(untilAborted(pages, signal), target, report);
        return report.finish('Copied', counts, signal);
      }),
    ),
  );
}
