import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Enables the mock timers of node:test, also for code that imports its timers from `node:timers`. */
export function mockTimers(t: TestContext, options: Parameters<TestContext['mock']['timers']['enable']>[0]): void {
  t.mock.timers.enable(options);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.timers.reset();
    syncBuiltinESMExports();
  });
}

/** Replaces `performance.now` with a clock that the test sets. */
export function mockClock(t: TestContext): { nowMs: number } {
  const clock = { nowMs: 0 };
  t.mock.method(performance, 'now', () => clock.nowMs);
  return clock;
}
