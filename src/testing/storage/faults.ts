import type { Write } from '../../core/storage-adapter.ts';
import { ContractError } from './expect.ts';
import { idOf } from './plants.ts';
import { Rejection } from './tested-adapter.ts';
import type { TestedAdapter } from './tested-adapter.ts';

/** Commits a batch that fails at the write `failing`. Throws a ContractError if the batch succeeds. */
export async function expectRejection(storage: TestedAdapter, batch: readonly Write[], failing: Write): Promise<void> {
  const [outcome] = await Promise.allSettled([storage.commit(batch)]);
  if (outcome.status === 'rejected' && outcome.reason instanceof Rejection) return;
  if (outcome.status === 'rejected') throw outcome.reason;
  const { plants } = await storage.list(failing.user, { after: idOf(failing) - 1n, limit: 1 });
  const isApplied = (plants[0]?.id === idOf(failing)) === (failing.kind === 'create');
  if (isApplied) {
    throw new ContractError(`makeWriteFail has no effect: the ${failing.kind} was applied. Check the function.`);
  }
  throw new ContractError('commit must reject if the storage fails at a write, or if a write cannot be read.');
}

/** Returns a create write that throws an error when its `name` is read. */
export function unreadableCreate(): Write {
  const plant = {
    id: 99n,
    get name(): string {
      throw new Error('The test suite throws this error when the name of this plant is read.');
    },
  };
  return { kind: 'create', user: 'ada', plant };
}
