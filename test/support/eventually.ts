import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until `check` neither throws nor rejects; after `withinMs` milliseconds its last failure stands. */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 5000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(10);
  }
}
