import { constants } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { plantJson } from '../../core/model/plant.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import type { Settings } from '../command-line.ts';
import { formatCount } from '../output/text.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, parseStorage, withSource } from '../storage.ts';

export async function run({ storage }: Settings<'export'>): Promise<number> {
  const location = parseStorage(storage, ['sqlite', 'postgres']);
  refuseRoot(...filesOf(location));
  return withSource(location, async (pages) => {
    let count = 0;
    async function* lines(): AsyncGenerator<string> {
      for await (const page of pages) {
        count += page.length;
        yield page.map(toLine).join('');
      }
    }
    try {
      await pipeline(lines, process.stdout, { end: false });
    } catch (error) {
      // The reader, such as `head`, has read enough.
      if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 128 + constants.signals.SIGPIPE;
      throw error;
    }
    process.stderr.write(`Exported ${formatCount(count, 'plant')}.\n`);
    return 0;
  });
}

function toLine({ user, plant }: OwnedPlant): string {
  return `{"user":${JSON.stringify(user)},"id":${plant.id},${plantJson(plant).slice(1)}\n`;
}
