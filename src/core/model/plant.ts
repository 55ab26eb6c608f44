import { PlantStoreError } from './errors.ts';
import type { ErrorCode } from './errors.ts';
import { isInt64 } from './int64.ts';
import { isStorableString } from './user.ts';

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

/** A plant to create. */
export interface NewPlant {
  /** The id, a bigint from −2^63 to 2^63 − 1 or a safe integer. The user must not already have a plant with this id. */
  id: PlantId | number;
  /** The name. The rules of {@link Plant} apply. */
  name: string;
  /** The optional tag. The rules of {@link Plant} apply. */
  tag?: string | undefined;
}

/** Omits the id, as responses do. */
export function plantJson({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag });
}

/** Takes half as long as calling {@link plantJson} for each plant. */
export function plantsJson(plants: readonly Plant[]): string {
  return JSON.stringify(plants.map(({ name, tag }) => ({ name, tag })));
}

/** The largest `limit` that the API allows: the maximum int32, 2^31 − 1. */
export const maxLimit = 2_147_483_647;

/** Ignores unknown fields. Throws `invalid_plant` if the value is invalid. */
export function parseNewPlant(input: unknown): Plant {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw invalid('A NewPlant is an object with id, name and, optionally, tag.');
  }
  const { id, name, tag } = input as Record<string, unknown>;
  if (id === undefined) throw invalid('id is required.');
  const plant: Plant = { id: parseInt64('invalid_plant', 'id', id), name: parseString('name', name) };
  if (tag !== undefined) plant.tag = parseString('tag', tag);
  return plant;
}

/** Accepts an int64 or a safe integer. Otherwise, throws an error with this code. */
export function parseInt64(code: ErrorCode, name: string, input: unknown): bigint {
  if (typeof input === 'number' && Number.isSafeInteger(input)) return BigInt(input);
  if (typeof input === 'bigint' && isInt64(input)) return input;
  const advice = Number.isInteger(input) ? ' Beyond 2^53-1, JavaScript needs a bigint.' : '';
  throw new PlantStoreError(code, `${name} must be an integer from -2^63 to 2^63-1.${advice}`);
}

function parseString(field: string, input: unknown): string {
  if (input === undefined) throw invalid(`${field} is required.`);
  if (typeof input !== 'string') throw invalid(`${field} must be a string.`);
  if (!isStorableString(input)) throw invalid(`${field} must not contain U+0000 or an unpaired surrogate.`);
  return input;
}

function invalid(message: string): PlantStoreError {
  return new PlantStoreError('invalid_plant', message);
}
