import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { ErrorCode } from '../../core/model/errors.ts';

/** The maximum length of an array that messages show in full. Of longer arrays, they show the first difference. */
const maxShownItems = 8;
/** The maximum length of a string that messages show in full. Of longer strings, they show the beginning. */
const maxShownText = 60;

/** Thrown if an adapter violates the contract. Its message must be clear to an author who has not read the suite. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

/** Throws a ContractError. Messages begin with the violated rule, which parameters call `contract`. */
export function fail(message: string, cause?: unknown): never {
  throw new ContractError(message, cause === undefined ? undefined : { cause });
}

/** Throws a ContractError with this message if the condition is false. */
export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) fail(message);
}

/** Throws a ContractError unless the values are strictly deep-equal. The message is `contract` and a short diff. */
export function expectEqual(actual: unknown, expected: unknown, contract: string): void {
  if (!isDeepStrictEqual(actual, expected)) fail(`${contract}\n${difference(actual, expected)}`);
}

/** Throws a ContractError unless `work` rejects with a PlantStoreError that has this code. */
export async function expectCode(work: Promise<unknown>, code: ErrorCode, contract: string): Promise<void> {
  const error = await rejectionOf(work, contract);
  const isExpected =
    error instanceof Error && error.name === 'PlantStoreError' && 'code' in error && error.code === code;
  if (!isExpected) fail(`${contract} It rejected with ${shown(error)}.`, error);
}

/** Returns the error that `work` rejects with. Throws a ContractError if `work` resolves. */
export async function rejectionOf(work: Promise<unknown>, contract: string): Promise<unknown> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error: innermost(error) }),
  );
  if (!('error' in outcome)) return fail(`${contract} It resolved with ${shown(outcome.value)}.`);
  if (outcome.error instanceof ContractError) throw outcome.error;
  return outcome.error;
}

/** Returns the cause of an error if it is a ContractError, which is more informative. Otherwise returns the error. */
export function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof ContractError ? error.cause : error;
}

/** Formats a value as one line, in which long strings and arrays are truncated. */
export function shown(value: unknown): string {
  if (value instanceof Error) {
    return `${value.name} "${value.message}"${'code' in value ? ` with the code ${String(value.code)}` : ''}`;
  }
  return inspect(brief(value), { breakLength: Infinity, compact: true, maxArrayLength: maxShownItems });
}

/** Formats a user name. Escapes all characters except printable ASCII, so that no two users look the same. */
export function visible(user: string): string {
  return shown(user).replaceAll(/[^\x20-\x7e]/gu, (text) => `\\u{${text.codePointAt(0)?.toString(16) ?? ''}}`);
}

/** Returns a diff in the format of node:assert. A diff of long arrays starts at the first difference. */
function difference(actual: unknown, expected: unknown): string {
  const [left, right, where] = firstDifference(actual, expected);
  try {
    assert.deepEqual(brief(left), brief(right));
    return `${where}The values differ only in a part of a long string that is not shown.`;
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
  const counts = `Expected ${due.length} items and received ${seen.length}.`;
  const where = `${counts} The first difference is at index ${from}: `;
  return [seen.slice(from, from + 3), due.slice(from, from + 3), where];
}

/** Returns a copy of the value in which long strings are truncated. */
function brief(value: unknown): unknown {
  if (typeof value === 'string' && value.length > maxShownText) {
    return `${value.slice(0, maxShownText / 2)}… (${value.length} UTF-16 code units)`;
  }
  if (Array.isArray(value)) return value.map(brief);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, brief(item)]));
}
