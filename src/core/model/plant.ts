import { PlantStoreError } from './errors.ts';
import type { ErrorCode } from './errors.ts';

/** The id of a plant, an int64. */
export type PlantId = bigint;

/** An id as the methods of `PlantStore` accept it: a bigint, or a safe integer. */
export type PlantIdInput = PlantId | number;

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
  /** The id, a bigint from -2^63 to 2^63-1 or a safe integer. The user must not already have a plant with this id. */
  id: PlantIdInput;
  /** The name. The rules of {@link Plant} apply. */
  name: string;
  /** The optional tag. The rules of {@link Plant} apply. */
  tag?: string | undefined;
}

/** Omits the id, as responses do. */
export function plantJson({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag });
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

/** Accepts an int64 as a bigint, or a safe integer. Otherwise, throws an error with this code. */
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

/** Enough for every `sub` of OpenID Connect (Core 1.0 §2). A PostgreSQL index limits a user to about 2700 bytes. */
const maxUserBytes = 255;

export function checkUser(user: unknown): asserts user is string {
  if (!isUser(user)) throw new PlantStoreError('invalid_user');
}

export function isUser(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxUserBytes && isStorableString(value)
  );
}

/** PostgreSQL cannot store U+0000, and UTF-8 cannot encode unpaired surrogates. */
function isStorableString(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export const minInt64: bigint = -(2n ** 63n);
export const maxInt64: bigint = 2n ** 63n - 1n;

/** The largest int64 has this many digits. Longer numbers are not passed to BigInt(), which parses them slowly. */
const maxDigits = 19;

function isInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64;
}

export function int64FromText(text: string): bigint | undefined {
  return /^-?\d+$/.test(text) ? int64FromJsonNumber(text) : undefined;
}

/** Converts a JSON number in any notation, such as `1.0` and `1e3`, without rounding and in linear time. */
export function int64FromJsonNumber(literal: string): bigint | undefined {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = parts;

  // value = significant × 10^exponent. `significant` has no leading or trailing zeros.
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (digits[end - 1] === '0') end--;
  const significant = digits.slice(start, end);
  if (significant === '') return 0n;

  const exponent = Number(exponentText) - fraction.length + (digits.length - end);
  if (exponent < 0 || significant.length + exponent > maxDigits) return undefined;
  const value = BigInt(sign + significant + '0'.repeat(exponent));
  return isInt64(value) ? value : undefined;
}
