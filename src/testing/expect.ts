import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { ErrorCode } from '../model/errors.ts';

/** The maximum length of an array that is shown in full. For a longer one, only its first difference is shown. */
const maxShownItems = 8;
/** The maximum length of a string that is shown in full. For a longer one, only its beginning is shown. */
const maxShownText = 60;

/** A violation of the contract. The adapter's author can understand the message without reading the suite. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

/** Throws a ContractError with this message. */
export function fail(sentence: string, cause?: unknown): never {
  throw new ContractError(sentence, cause === undefined ? undefined : { cause });
}

/** Throws a ContractError with this message unless the condition is true. */
export function expect(condition: boolean, sentence: string): asserts condition {
  if (!condition) fail(sentence);
}

/** Throws a ContractError with this rule of the contract and a short diff unless the values are strictly deep-equal. */
export function expectEqual(actual: unknown, expected: unknown, contract: string): void {
  if (!isDeepStrictEqual(actual, expected)) fail(`${contract}\n${difference(actual, expected)}`);
}

/** Throws a ContractError with this rule of the contract unless `work` rejects with a PlantStoreError of this code. */
export async function expectCode(work: Promise<unknown>, code: ErrorCode, contract: string): Promise<void> {
  const error = await rejectionOf(work, contract);
  const isExpected =
    error instanceof Error && error.name === 'PlantStoreError' && 'code' in error && error.code === code;
  if (!isExpected) fail(`${contract} It rejected with ${shown(error)}.`, error);
}

/** Returns the error that `work` rejects with. Throws a ContractError with this rule of the contract if it resolves. */
export async function rejectionOf(work: Promise<unknown>, contract: string): Promise<unknown> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: innermost(error) }),
  );
  if (!('error' in outcome)) return fail(`${contract} It resolved with ${shown(outcome.value)}.`);
  if (outcome.error instanceof ContractError) throw outcome.error;
  return outcome.error;
}

/** Returns the ContractError inside a PlantStoreError, because it is more informative; otherwise the error itself. */
export function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof ContractError ? error.cause : error;
}

/** Formats a value on one line, with long strings and arrays truncated. */
export function shown(value: unknown): string {
  if (value instanceof Error) {
    return `${value.name} "${value.message}"${'code' in value ? ` with the code ${String(value.code)}` : ''}`;
  }
  return inspect(brief(value), { breakLength: Infinity, compact: true, maxArrayLength: maxShownItems });
}

/** Returns node:assert's diff of the part in which the values differ. */
function difference(actual: unknown, expected: unknown): string {
  const [left, right, where] = firstDifference(actual, expected);
  try {
    assert.deepEqual(brief(left), brief(right));
    return `${where}They differ within a long text.`;
  } catch (error) {
    return `${where}${error instanceof Error ? error.message : String(error)}`;
  }
}

function firstDifference(actual: unknown, expected: unknown): [unknown, unknown, string] {
  if (!Array.isArray(actual) || !Array.isArray(expected)) return [actual, expected, ''];
  const [seen, due]: [unknown[], unknown[]] = [actual, expected];
  if (Math.max(seen.length, due.length) <= maxShownItems) return [seen, due, ''];
  const found = due.findIndex((item, index) => !isDeepStrictEqual(item, seen[index]));
  const from = found === -1 ? due.length : found;
  const counts = `It returned ${seen.length} items of an expected ${due.length}.`;
  const where = `${counts} From the first difference, at index ${from}: `;
  return [seen.slice(from, from + 3), due.slice(from, from + 3), where];
}

/** Returns a copy of the value in which long strings are truncated. */
function brief(value: unknown): unknown {
  if (typeof value === 'string') return value.length > maxShownText ? briefText(value) : value;
  if (Array.isArray(value)) return value.map(brief);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, brief(item)]));
}

function briefText(text: string): string {
  return `${text.slice(0, maxShownText / 2)}… (${text.length} UTF-16 code units)`;
}
