import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

// Some tests mock this method.
const now = performance.now.bind(performance);

/** Calls `check` until it succeeds, and returns the result. After `withinMs`, rejects with the last error. */
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

/** Waits until a number has been the same in six successive readings, 20 milliseconds apart. */
export async function untilStill(read: () => number): Promise<void> {
  let last = NaN;
  for (let same = 0; same < 5;) {
    await sleep(20);
    const value = read();
    same = value === last ? same + 1 : 0;
    last = value;
  }
}

export async function eventuallyEqual<T>(read: () => T | Promise<T>, expected: T, withinMs?: number): Promise<void> {
  await eventually(async () => {
    assert.deepEqual(await read(), expected);
  }, withinMs);
}
