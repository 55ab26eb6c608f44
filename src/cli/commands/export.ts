import { plantJson } from '../../core/model/plant.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import type { Settings } from '../command-line.ts';
import { print, Progress, requireStandardOutput, tell } from '../output/print.ts';
import { formatCount } from '../output/text.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, parseStorage, withSource } from '../storage.ts';

export async function run({ storage }: Settings<'export'>): Promise<number> {
  requireStandardOutput();
  const location = parseStorage(storage, ['sqlite', 'postgres']);
  refuseRoot(...filesOf(location));
  return withSource(location, async (pages) => {
    const progress = new Progress('plant');
    let count = 0;
    for await (const page of pages) {
      await print(page.map(toLine).join(''));
      count += page.length;
      // A terminal already shows the plants.
      if (!process.stdout.isTTY) progress.show(count);
    }
    tell(`Exported ${formatCount(count, 'plant')}.`);
    return 0;
  });
}

function toLine({ user, plant }: OwnedPlant): string {
  return `{"user":${JSON.stringify(user)},"id":${plant.id},${plantJson(plant).slice(1)}\n`;
}
