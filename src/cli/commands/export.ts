import { plantJson } from '../../core/model/plant.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import type { Settings } from '../command-line.ts';
import { print, requireStandardOutput } from '../output/print.ts';
import { formatCount } from '../output/text.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, parseStorage, withSource } from '../storage.ts';

export async function run({ storage }: Settings<'export'>): Promise<number> {
  requireStandardOutput();
  const location = parseStorage(storage, ['sqlite', 'postgres']);
  refuseRoot(...filesOf(location));
  return withSource(location, async (pages) => {
    let count = 0;
    for await (const page of pages) {
      await print(page.map(toLine).join(''));
      count += page.length;
    }
    process.stderr.write(`Exported ${formatCount(count, 'plant')}.\n`);
    return 0;
  });
}

function toLine({ user, plant }: OwnedPlant): string {
  return `{"user":${JSON.stringify(user)},"id":${plant.id},${plantJson(plant).slice(1)}\n`;
}
