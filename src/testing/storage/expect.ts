import { inspect, isDeepStrictEqual } from 'node:util';

/** Thrown if an adapter violates the contract. The message starts with the violated rule. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
}

export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw new ContractError(message);
}

/** Throws a ContractError unless the values are strictly deep-equal. The message ends with the first difference. */
export function expectEqual(actual: unknown, expected: unknown, rule: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  let [seen, due, where]: [unknown, unknown, string] = [actual, expected, ''];
  if (Array.isArray(actual) && Array.isArray(expected)) {
    const length = Math.max(actual.length, expected.length);
    const at = Array.from({ length }).findIndex((_, index) => !isDeepStrictEqual(actual[index], expected[index]));
    [seen, due] = [actual[at] as unknown, expected[at] as unknown];
    where = ` at index ${at} (${actual.length} items instead of ${expected.length})`;
  }
  throw new ContractError(`${rule}\nExpected ${shown(due)} but received ${shown(seen)}${where}.`);
}

/** Formats a value as one line of ASCII, in which long strings and arrays are shortened. */
export function shown(value: unknown): string {
  if (value instanceof Error) return `${value.name} "${value.message}"`;
  const text = inspect(value, { breakLength: Infinity, compact: true, maxArrayLength: 8, maxStringLength: 30 });
  return text.replaceAll(/[^\x20-\x7e]/gu, (found) => `\\u{${found.codePointAt(0)?.toString(16) ?? ''}}`);
}
