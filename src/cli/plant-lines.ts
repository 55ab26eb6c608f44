import { errorTable, isPlantStoreError } from '../core/model/errors.ts';
import { parseExactJson } from '../core/model/exact-json.ts';
import { parseNewPlant } from '../core/model/plant.ts';
import { isUser } from '../core/model/user.ts';
import type { OwnedPlant } from '../core/storage-adapter.ts';

/** Bounds the memory that one line uses. */
const maxLineBytes = 1_048_576;

/**
 * Splits a stream of bytes into lines without terminators. Yields the lines that end in the same chunk together. May
 * truncate a line that is too long, but not to a valid length.
 */
export async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer[], void, undefined> {
  // Latin-1 preserves every byte, so invalid UTF-8 can be reported. Appending to a string does not copy it.
  let rest = '';
  for await (const chunk of input) {
    const [first = '', ...others] = chunk.toString('latin1').split('\n');
    if (rest.length <= maxLineBytes) rest += first;
    const last = others.pop();
    if (last === undefined) continue;
    yield [rest, ...others].map((line) => Buffer.from(line, 'latin1'));
    rest = last;
  }
  yield [Buffer.from(rest, 'latin1')];
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a line in the format that `plant-store export` writes. Ids stay exact, even beyond 2^53. If the line is blank,
 * returns `undefined`. If the line is not a valid plant, returns a sentence that describes the problem.
 */
export function parsePlantLine(line: Buffer): OwnedPlant | string | undefined {
  if (line.length > maxLineBytes) return 'it is longer than 1 MiB.';
  try {
    // The decoder omits U+FEFF, a byte order mark, which some programs write at the start of a file.
    const text = decoder.decode(line);
    if (text.trim() === '') return undefined;
    const value = parseExactJson(text);
    const plant = parseNewPlant(value);
    const { user } = value as { user?: unknown };
    return isUser(user) ? { user, plant } : errorTable.invalid_user.message;
  } catch (error) {
    return isPlantStoreError(error) ? error.message : 'it is not JSON in UTF-8.';
  }
}
