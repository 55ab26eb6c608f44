import { errorTable, PlantStoreError } from '../../core/model/errors.ts';
import { parseExactJson } from '../../core/model/exact-json.ts';
import { parseNewPlant } from '../../core/model/plant.ts';
import { isUser } from '../../core/model/user.ts';
import type { OwnedPlant } from '../../core/storage-adapter.ts';

export const maxLineBytes = 1_048_576;

export interface Line {
  /** The line number, counted from 1. */
  readonly number: number;
  /** The bytes of the line without its terminator; `undefined` if the line is longer than `maxBytes`. */
  readonly bytes: Buffer | undefined;
}

const newLine = 0x0a;

/**
 * Splits a stream of bytes into lines. For each chunk of the stream, yields the lines that end in the chunk. Keeps at
 * most `maxBytes + 1` bytes of an incomplete line.
 */
export async function* readLines(
  input: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line[], void, undefined> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  const lineOf = (bytes: Buffer): Line => ({ number: ++number, bytes: bytes.length > maxBytes ? undefined : bytes });
  for await (const chunk of input) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const lines: Line[] = [];
    let start = 0;
    for (let end; (end = bytes.indexOf(newLine, start)) !== -1; start = end + 1) {
      lines.push(lineOf(bytes.subarray(start, end)));
    }
    // One byte beyond the maximum is kept to detect that the line is too long.
    rest = bytes.subarray(start, start + maxBytes + 1);
    yield lines;
  }
  if (rest.length > 0) yield [lineOf(rest)];
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a line in the format that `plant-store export` writes. Ids stay exact, even beyond 2^53. If the line is blank,
 * returns `undefined`. If the line is not a valid plant, returns a sentence that describes the problem.
 */
export function parsePlantLine({ bytes }: Line): OwnedPlant | string | undefined {
  if (bytes === undefined) return `it has more than ${maxLineBytes} bytes.`;
  try {
    // The decoder omits U+FEFF, a byte order mark, which some programs write at the start of a file.
    const text = decoder.decode(bytes);
    if (text.trim() === '') return undefined;
    const value = parseExactJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return 'it is not an object with user, id, name and, optionally, tag.';
    }
    const { user } = value as { user?: unknown };
    if (!isUser(user)) return errorTable.invalid_user.message;
    return { user, plant: parseNewPlant(value) };
  } catch (error) {
    // The cause of any other error is that the line is not UTF-8, is not JSON, or nests too deep.
    return error instanceof PlantStoreError ? error.message : 'it is not JSON in UTF-8, or nests too deep.';
  }
}
