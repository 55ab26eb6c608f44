import { PlantStoreError } from './errors.ts';
import { isInt64 } from './int64.ts';
import { isStorableString } from './storable-string.ts';

/** The id of a plant, an int64. */
export type PlantId = bigint;

/** A stored plant. */
export interface Plant {
  /** The id, which is unique among a user's plants. */
  id: PlantId;
  /** The name, any Unicode string without U+0000 and without unpaired surrogates. The name can be empty. */
  name: string;
  /** The optional tag, which specifies the type of the plant. The rules for names also apply to tags. */
  tag?: string;
}

/** A plant as the service returns it, without the id. */
export type PlantFields = Omit<Plant, 'id'>;

/** A plant to create. If `id` is a `number`, it must be a safe integer. */
export interface NewPlant {
  /** The id, from −2^63 to 2^63 − 1. The user must not already have a plant with this id. */
  id: PlantId | number;
  /** The name: see {@link Plant}. */
  name: string;
  /** The tag: see {@link Plant}. */
  tag?: string | undefined;
}

/** Returns a plant as JSON, without the id. Omits `tag` if the plant does not have a tag. */
export function plantJson({ name, tag }: PlantFields): string {
  return JSON.stringify({ name, tag });
}

/** Returns plants as a JSON array. This function takes half as long as calling {@link plantJson} for each plant. */
export function plantsJson(plants: readonly PlantFields[]): string {
  return JSON.stringify(plants.map(({ name, tag }) => ({ name, tag })));
}

/** The largest `limit` that the API allows: the maximum int32, 2^31 − 1. */
export const maxLimit = 2_147_483_647;

/**
 * Validates a value of unknown type and returns it as a new plant. Ignores unknown fields.
 *
 * @throws {PlantStoreError} `invalid_plant` if `input` is not an object, or if a field is missing or invalid. The error
 *   message names a missing or invalid field.
 */
export function parseNewPlant(input: unknown): Plant {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new PlantStoreError('invalid_plant', 'A NewPlant is an object with id, name and, optionally, tag.');
  }
  const { id, name, tag } = input as Record<string, unknown>;
  const plant: Plant = { id: parseId(id), name: parseString('name', name) };
  if (tag !== undefined) plant.tag = parseString('tag', tag);
  return plant;
}

function parseId(input: unknown): PlantId {
  if (input === undefined) throw new PlantStoreError('invalid_plant', 'id is required.');
  const id = toInt64(input);
  if (id === undefined) {
    const message = unsafeNumber('id', input) ?? 'id must be a number with an integral value from -2^63 to 2^63-1.';
    throw new PlantStoreError('invalid_plant', message);
  }
  return id;
}

/** Returns the error message for an integer that is not a safe integer. Returns `undefined` for any other value. */
export function unsafeNumber(name: string, input: unknown): string | undefined {
  if (!Number.isInteger(input) || Number.isSafeInteger(input)) return undefined;
  return `${name} is a number outside the range of safe integers: pass a bigint.`;
}

function parseString(field: string, input: unknown): string {
  if (input === undefined) throw new PlantStoreError('invalid_plant', `${field} is required.`);
  if (typeof input !== 'string') throw new PlantStoreError('invalid_plant', `${field} must be a string.`);
  if (!isStorableString(input)) {
    throw new PlantStoreError('invalid_plant', `${field} must not contain U+0000 or an unpaired surrogate.`);
  }
  return input;
}

/**
 * Converts a safe integer or a bigint to an int64. Returns `undefined` for any other value, including a bigint that is
 * out of range.
 */
export function toInt64(input: unknown): bigint | undefined {
  if (typeof input === 'number' && Number.isSafeInteger(input)) return BigInt(input);
  return typeof input === 'bigint' && isInt64(input) ? input : undefined;
}
