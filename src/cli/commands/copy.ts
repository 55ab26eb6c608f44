import { addPlants } from '../../transfer/copy-plants.ts';
import { parseCommandLine } from '../command.ts';
import { runInterruptibly, untilAborted } from '../interruption.ts';
import { TransferReport } from '../output/transfer-report.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, parseStorage, withSource, withTarget } from '../storage.ts';

export const help = `Usage: plant-store copy --from STORAGE --to STORAGE

Copies all plants of all users. Plants that the target already has are skipped,
so you can continue an interrupted copy by running it again. Nothing is
overwritten: if the target has a different plant with the same user and id, the
conflict is reported, and the exit code is 1.

Options:
  --from STORAGE   the storage to read: sqlite:FILE or postgres://…
  --to STORAGE     the storage to write: sqlite:FILE or postgres://…
  -h, --help       show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values } = parseCommandLine(args, { from: { type: 'string' }, to: { type: 'string' } });
  const from = parseStorage({ text: values.from ?? '', source: '--from' }, ['sqlite', 'postgres']);
  const to = parseStorage({ text: values.to ?? '', source: '--to' }, ['sqlite', 'postgres']);
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
