import { constants } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { plantJson } from '../../core/model/plant.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import { parseCommandLine } from '../command.ts';
import { readSetting, settings } from '../environment.ts';
import { formatCount } from '../output/text.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, parseStorage, withSource } from '../storage.ts';

export const help = `Usage: plant-store export [--storage STORAGE] > plants.ndjson

Writes all plants of all users to standard output. Each line is a JSON object:
{"user":"ada","id":1,"name":"Fern","tag":"indoor"}. The tag is omitted if the
plant has none. Ids are exact integers, even beyond 2^53.

Options:
  --storage STORAGE   sqlite:FILE or postgres://… (PLANT_STORE_STORAGE, else
                      DATABASE_URL; default sqlite:plants.db)
  -h, --help          show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values } = parseCommandLine(args, { storage: settings.storage });
  const location = parseStorage(readSetting('storage', values.storage), ['sqlite', 'postgres']);
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
