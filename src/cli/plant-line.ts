import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '../model/errors.ts';
import { parseExactJson } from '../model/exact-json.ts';
import { parseNewPlant } from '../model/plant.ts';
import type { OwnedPlant } from '../storage/storage-adapter.ts';
import { isUser } from '../model/user.ts';
import type { Line } from './lines.ts';

/** The maximum length of a line, in bytes. */
export const maxLineBytes = 1_048_576;

/**
 * The result of parsing a line: a plant and its user, a sentence that describes the problem, or `undefined` for a blank
 * line.
 */
export type ParsedLine = { readonly owned: OwnedPlant } | { readonly problem: string } | undefined;

/**
 * Parses a line in the format that `plant-store export` writes. Ids stay exact, even beyond 2^53. Returns `undefined`
 * for a blank line.
 */
export function parsePlantLine({ number, bytes }: Line): ParsedLine {
  if (bytes === undefined) return { problem: `it has more than ${maxLineBytes} bytes.` };
  if (!isUtf8(bytes)) return { problem: 'it is not UTF-8.' };
  const decoded = bytes.toString('utf8');
  // Some programs write U+FEFF, a byte order mark, at the start of a file.
  const text = number === 1 && decoded.startsWith('\uFEFF') ? decoded.slice(1) : decoded;
  if (/^\s*$/.test(text)) return undefined;
  try {
    return { owned: parseOwnedPlant(parseExactJson(text)) };
  } catch (error) {
    if (error instanceof PlantStoreError) return { problem: error.message };
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    return { problem: 'it is not JSON, or nests too deep.' };
  }
}

function parseOwnedPlant(value: unknown): OwnedPlant {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new PlantStoreError('invalid_plant', 'it is not an object with user, id, name and, optionally, tag.');
  }
  const { user } = value as { user?: unknown };
  if (user === undefined) throw new PlantStoreError('invalid_user', 'user is required.');
  if (!isUser(user)) throw new PlantStoreError('invalid_user');
  return { user, plant: parseNewPlant(value) };
}
