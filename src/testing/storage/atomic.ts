import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { OwnedPlant, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { create, createAll, faulty, plantOf, range, remove } from './plants.ts';
import type { StorageAdapterTestOptions } from './options.ts';
import { test } from './session.ts';
import { expectOneState, expectRejection, expectScan, expectStored } from './stored.ts';

/** Two sets of plants of the user ada. A commit of a thousand writes replaces one set with the other. */
const [former, latter] = [0, 500].map((from) => range(500).map((n) => plantOf('ada', BigInt(from + n)))) as [
  OwnedPlant[],
  OwnedPlant[],
];

function replace(old: readonly OwnedPlant[], next: readonly OwnedPlant[]): Write[] {
  return old.flatMap(({ user, plant }, index) => [remove(user, plant.id), ...createAll(next.slice(index, index + 1))]);
}

const everything = { after: undefined, limit: 1000 };

/** Lists the plants through each adapter until the commit settles. Each list must be one of the given states. */
async function expectOneStateDuring(
  commit: Promise<unknown>,
  storages: readonly StorageAdapter[],
  states: readonly OwnedPlant[][],
  rule: string,
): Promise<void> {
  const running = new Set([commit]);
  const settled = Promise.allSettled([commit]).then(() => {
    running.clear();
  });
  for (let turn = 0; running.size > 0; turn++) {
    for (const storage of storages) expectOneState(await storage.list('ada', everything), states, rule);
    const [state, ...others] = states;
    // Scans are checked only during a commit that must fail. During a commit that succeeds, a scan can return plants
    // from before and after it.
    if (state !== undefined && others.length === 0) {
      for (const storage of storages) await expectScan(storage, state, rule);
    }
    // The first lists run without pauses. Later pauses give a slow commit more time.
    if (turn > 50) await sleep(5);
  }
  await settled;
  await commit;
}

export function testAtomicity(options: StorageAdapterTestOptions): void {
  test(options, 'lists during a commit of 1000 writes show all of its writes or none', async (session) => {
    const storages = await session.openAll(await session.createLocation());
    const [storage] = storages;
    await storage.commit(createAll(former));
    const rule = 'A commit must be all or nothing for every list, also while it is in progress.';
    for (const n of range(6)) {
      const writes = n % 2 === 0 ? replace(former, latter) : replace(latter, former);
      await expectOneStateDuring(storage.commit(writes), storages, [former, latter], rule);
    }
    await expectStored(storage, former);
  });

  test(options, 'lists and scans during a commit that fails show none of its writes', async (session, t) => {
    if (options.makeWriteFail === undefined) {
      t.skip('The option makeWriteFail is missing.');
      return;
    }
    const location = await session.createLocation();
    const storages = await session.openAll(location);
    const [storage] = storages;
    await storage.commit(createAll(former));
    const failing = create('ada', 2000n);
    await options.makeWriteFail(location, faulty(failing));
    const rule = 'A list must not show writes of a commit that fails.';
    await expectRejection(storage, [failing]);
    const rejected = expectRejection(storage, [...replace(former, latter).slice(0, -1), failing]);
    await expectOneStateDuring(rejected, storages, [former], rule);
    await expectStored(storage, former, { rule });
  });

  if (!options.shared) return;
  test(options, 'a crash during a commit leaves all of its writes or none', async (session, t) => {
    const rule = 'A commit must be all or nothing after a crash. The storage was opened again during a commit.';
    for (const turns of [0, 1, 2, 4, 8, 16]) {
      const location = await session.createLocation();
      const storage = await session.open(location);
      await storage.commit(createAll(former));
      const committing = Promise.allSettled([storage.commit(replace(former, latter))]);
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      const reopened = await session.reopen(location);
      if (reopened === undefined) {
        t.skip('The location has no reopen.');
        return;
      }
      expectOneState(await reopened.list('ada', everything), [former, latter], rule);
      await committing;
    }
  });
}
