import type { OwnedPlant } from '../../../core/storage-adapter.ts';
import { parseCommandLine } from '../command.ts';
import { setting, settings } from '../environment.ts';
import { counted } from '../output/transfer-report.ts';
import { parseStorage, withSource } from '../storage.ts';

export const help = `Usage: plant-store export [--storage STORAGE] > plants.ndjson

Writes all plants of all users to standard output. Each line is a JSON object:
{"user":"ada","id":1,"name":"Fern","tag":"indoor"}. The tag is omitted if the
plant has none. Ids are exact integers, even beyond 2^53.

Options:
  --storage STORAGE   the storage to read: sqlite:FILE or postgres://…
                      (PLANT_STORE_STORAGE, else DATABASE_URL;
                      default sqlite:plants.db)
  -h, --help          show this help
`;

export async function run(args: string[]): Promise<number> {
  const { values } = parseCommandLine(args, { storage: settings.storage });
  const location = parseStorage(setting('storage', values.storage), ['sqlite', 'postgres']);
  return withSource(location, async (pages) => {
    let count = 0;
    for await (const page of pages) {
      await print(page.map(toLine).join(''));
      count += page.length;
    }
    process.stderr.write(`Exported ${counted(count, 'plant')}.\n`);
    return 0;
  });
}

function toLine({ user, plant: { id, name, tag } }: OwnedPlant): string {
  const ending = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`;
  return `{"user":${JSON.stringify(user)},"id":${id},"name":${JSON.stringify(name)}${ending}}\n`;
}

/** Resolves when the text has been written, so that at most one page is buffered if the reader is slow. */
function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (cause) => {
      const problem = 'Standard output ended before all plants were written.';
      if (cause) reject(new Error(problem, { cause }));
      else resolve();
    });
  });
}
