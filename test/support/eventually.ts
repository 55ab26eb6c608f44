import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

// Some tests mock this method.
const now = performance.now.bind(performance);

/**
 * Calls `check` until it succeeds, and returns the result. Rejects with the last error after `withinMs` milliseconds.
 */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 30_000): Promise<T> {
  const deadline = now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (now() > deadline) throw error;
    }
    await sleep(10);
  }
}

/** Waits until `read` returns a value that equals `expected`. */
export async function eventuallyEqual<T>(read: () => T | Promise<T>, expected: T, withinMs?: number): Promise<void> {
  await eventually(async () => {
    assert.deepEqual(await read(), expected);
  }, withinMs);
}
