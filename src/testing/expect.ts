import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import { idOf } from '../core/storage-adapter.ts';
import type { ListRange, Write } from '../core/storage-adapter.ts';

/** The failure of a call. Has the stack of its reason, so that node:test shows the reason once. */
export class CallError extends Error {
  readonly #reason: unknown;
  readonly #isRejection: boolean;

  constructor(message: string, reason: unknown, isRejection = false) {
    super(message);
    this.#reason = reason;
    this.#isRejection = isRejection;
    const { stack, cause } = (reason ?? {}) as Partial<Error>;
    this.stack = [`Error: ${message}`, ...(String(stack).match(/^ +at .*$/gm) ?? [])].join('\n');
    if (cause !== undefined) this.cause = cause;
  }

  /** Returns what the promise of a method rejected with, or `undefined` if `error` is any other error. */
  static reasonOf(error: unknown): unknown {
    return error instanceof CallError && error.#isRejection ? error.#reason : undefined;
  }
}

/** Returns what a call of an adapter rejects with. Fails with the message if the call does not reject. */
export async function rejectionOf(call: () => Promise<unknown>, message: string): Promise<unknown> {
  const [result] = await Promise.allSettled([call()]);
  if (result.status === 'fulfilled') assert.fail(message);
  const reason = CallError.reasonOf(result.reason);
  if (reason === undefined) throw result.reason;
  return reason;
}

/** Asserts that the values are deep-equal. If they are large, the message is shorter than that of node:assert. */
export function expectEqual(actual: unknown, expected: unknown, rule: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  let [seen, due, where]: [unknown, unknown, string] = [actual, expected, ''];
  if (Array.isArray(actual) && Array.isArray(expected)) {
    const length = Math.max(actual.length, expected.length);
    const at = Array.from({ length }).findIndex((_, index) => !isDeepStrictEqual(actual[index], expected[index]));
    [seen, due] = [actual[at] as unknown, expected[at] as unknown];
    where = ` at index ${at} (${actual.length} items instead of ${expected.length})`;
  }
  assert.fail(`${rule}\nExpected ${shown(due)} but received ${shown(seen)}${where}.`);
}

/** Formats a value as one line of ASCII, in which long strings and arrays are shortened. */
export function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w -]{0,30}$/.test(value)) return `'${value}'`;
  const text = inspect(value, { breakLength: Infinity, compact: true, maxArrayLength: 8, maxStringLength: 30 });
  return text.replaceAll(/[^\x20-\x7e]/gu, (found) => `\\u{${found.codePointAt(0)?.toString(16) ?? ''}}`);
}

export function commitText(writes: readonly Write[]): string {
  const texts = writes.slice(0, 9).map((write) => `${write.kind} ${shown(write.user)} ${idOf(write)}`);
  if (writes.length > texts.length) texts.push(`${writes.length - texts.length} more`);
  return `commit([${texts.join(', ')}])`;
}

export function listText(user: string, { after, limit }: ListRange): string {
  return `list(${shown(user)}, { after: ${after ?? 'undefined'}, limit: ${limit} })`;
}
