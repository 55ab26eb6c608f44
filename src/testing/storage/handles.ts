import { createHook } from 'node:async_hooks';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ContractError } from './expect.ts';
import type { Suite } from './suite.ts';

/** A timer, socket, thread or other resource. It keeps the process alive while `hasRef` returns `true`. */
interface Handle {
  hasRef(): boolean;
  unref(): unknown;
}

/** How long a closed adapter may take to release its handles, in milliseconds. */
const graceMs = 2000;

/**
 * Registers tests, and a last test that fails if adapters leave handles open when they are closed. The handles are
 * unreferenced, because the process would not end otherwise.
 */
export function testHandles(suite: Suite, registerTests: () => void): void {
  const open = new Map<number, { type: string; handle: Handle }>();
  const hook = createHook({
    init: (id, type, _, resource: Partial<Handle>) => {
      if (resource.hasRef && resource.unref) open.set(id, { type, handle: resource as Handle });
    },
    destroy: (id) => void open.delete(id),
  });
  before(() => {
    hook.enable();
  });
  after(() => {
    hook.disable();
  });
  registerTests();

  it('a closed adapter leaves no timer, socket or thread open', async (t) => {
    if (suite.opened === 0) t.skip('No other test has opened an adapter.');
    const left = () => [...open.values()].filter(({ handle }) => handle.hasRef());
    // The test file may share a few handles between all adapters, such as a connection pool.
    const hasLeak = (): boolean => left().length > suite.opened / 2;
    for (let waitedMs = 0; hasLeak() && waitedMs < graceMs; waitedMs += 100) await sleep(100);
    if (!hasLeak()) return;
    const leaked = left();
    for (const { handle } of leaked) handle.unref();
    const types = [...new Set(leaked.map(({ type }) => type))].join(', ');
    const count = `After ${suite.opened} adapters were closed, ${leaked.length} handles are open: ${types}.`;
    throw new ContractError(`close must release what keeps the process alive. ${count}`);
  });
}
