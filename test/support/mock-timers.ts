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
