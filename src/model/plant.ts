import { PlantStoreError } from './errors.ts';
import { isInt64 } from './int64.ts';

/** A plant's identification number: an int64. */
export type PlantId = bigint;

/** What the service answers for a plant. */
export interface Plant {
  /** The name: any Unicode string without U+0000 and unpaired surrogates; may be empty. */
  name: string;
  /** The type of the plant, under the same rules as the name. Left out where there is none. */
  tag?: string;
}

/** A plant together with the id that it is kept under. */
export interface StoredPlant extends Plant {
  id: PlantId;
}

/** What creates a plant. A `number` is taken as id where it is a safe integer. */
export interface NewPlant {
  id: PlantId | number;
  name: string;
  tag?: string | undefined;
}

/** The JSON of a Plant: without its id, and without a tag where there is none. */
export function plantJson({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag });
}

/** The largest `limit`, 2^31 − 1: the interface types it int32. */
export const maxLimit = 2_147_483_647;

/**
 * Checks an unknown value and makes a fresh plant of it. Unknown fields are ignored.
 *
 * @throws {PlantStoreError} `invalid_plant`, with a message that names the field.
 */
export function parseNewPlant(input: unknown): StoredPlant {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new PlantStoreError('invalid_plant', 'A NewPlant is an object with id, name and, if wanted, tag.');
  }
  const { id, name, tag } = input as Record<string, unknown>;
  const plant: StoredPlant = { id: parseId(id), name: parseString('name', name) };
  if (tag !== undefined) plant.tag = parseString('tag', tag);
  return plant;
}

function parseId(input: unknown): PlantId {
  if (input === undefined) throw new PlantStoreError('invalid_plant', 'id is required.');
  const id = toInt64(input);
  if (Number.isInteger(input) && !Number.isSafeInteger(input)) {
    throw new PlantStoreError('invalid_plant', 'id is a number that is no safe integer: pass a bigint.');
  }
  if (id === undefined) {
    throw new PlantStoreError('invalid_plant', 'id must be a number with an integral value from -2^63 to 2^63-1.');
  }
  return id;
}

function parseString(field: string, input: unknown): string {
  if (input === undefined) throw new PlantStoreError('invalid_plant', `${field} is required.`);
  if (typeof input !== 'string') throw new PlantStoreError('invalid_plant', `${field} must be a string.`);
  if (!isStorableString(input)) {
    throw new PlantStoreError('invalid_plant', `${field} must not hold U+0000 or an unpaired surrogate.`);
  }
  return input;
}

/** Whether every storage engine can hold `text`: no U+0000 (PostgreSQL), well-formed UTF-16. */
export function isStorableString(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The int64 that a bigint or a safe-integer number is, or `undefined`. */
export function toInt64(input: unknown): bigint | undefined {
  if (typeof input === 'number' && Number.isSafeInteger(input)) return BigInt(input);
  return typeof input === 'bigint' && isInt64(input) ? input : undefined;
}
