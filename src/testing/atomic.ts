import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { OwnedPlant, Write } from '../core/storage-adapter.ts';
import type { CheckedAdapter } from './checked-adapter.ts';
import type { Place } from './place.ts';
import { create, createAll, plantOf, range, remove } from './plants.ts';
import { expectOneState, expectRejection, expectStored } from './stored.ts';
import type { Suite } from './suite.ts';

/** Two sets of plants of the user ada. A commit of a thousand writes replaces one set with the other. */
const former = range(500).map((n) => plantOf('ada', BigInt(n)));
const latter = range(500).map((n) => plantOf('ada', BigInt(500 + n)));

function replace(old: readonly OwnedPlant[], next: readonly OwnedPlant[]): Write[] {
  return old.flatMap(({ user, plant }, index) => [remove(user, plant.id), ...createAll(next.slice(index, index + 1))]);
}

const everything = { after: undefined, limit: 1000 };

const allOrNothing = 'A commit must be all or nothing, also for lists while it is in progress, and after a crash.';
const noticed = 'dataVersion() must change after a list that did not return the plants of a commit in progress.';

/** Lists the plants through each adapter until the commit settles. Each list must be one of the given states. */
async function expectOneStateDuring(
  commit: Promise<unknown>,
  storages: readonly CheckedAdapter[],
  states: readonly OwnedPlant[][],
): Promise<void> {
  const other = storages[1];
  const staleVersions = new Set<number | undefined>();
  let isRunning = true;
  const settled = Promise.allSettled([commit]).then(() => (isRunning = false));
  for (let turn = 0; isRunning; turn++) {
    for (const storage of storages) {
      const version = other?.version();
      const state = expectOneState(await storage.list('ada', everything), states, allOrNothing);
      if (storage === other && state === 0) staleVersions.add(version);
      // A scan during a commit that succeeds can return plants from before and after it.
      if (states.length === 1) await expectStored(storage, states[0] ?? [], allOrNothing);
    }
    // The first lists run without pauses. Later pauses give a slow commit more time.
    if (turn > 50) await sleep(5);
  }
  await settled;
  await commit;
  const version = other?.version();
  assert.ok(version === undefined || states.length === 1 || !staleVersions.has(version), noticed);
}

export function testAtomicity(suite: Suite): void {
  const { shared, makeWriteFail } = suite.options;

  suite.test('lists during a commit of 1000 writes show all of its writes or none', async (place) => {
    const storages = await place.openAll();
    const [storage] = storages;
    await storage.commit(createAll(former));
    for (const n of range(6)) {
      const [old, next] = n % 2 === 0 ? [former, latter] : [latter, former];
      await expectOneStateDuring(storage.commit(replace(old, next)), storages, [old, next]);
    }
    await expectStored(storage, former);
  });

  suite.test('a commit that fails shows none of its writes, neither in progress nor later', async (place, t) => {
    if (makeWriteFail === undefined) {
      t.skip('The option makeWriteFail is missing.');
      return;
    }
    const storages = await place.openAll();
    const [storage] = storages;
    await storage.commit(createAll(former));
    const failing = create('ada', 2000n);
    await place.makeWriteFail(failing);
    await expectRejection(storage, [failing]);
    const rejected = expectRejection(storage, [...replace(former, latter).slice(0, -1), failing]);
    await expectOneStateDuring(rejected, storages, [former]);
    await sleep(150);
    await expectStored(storage, former, 'When commit has rejected, its writes must not take effect later.');
  });

  if (!shared) return;
  suite.test('a crash during a commit leaves all of its writes or none', async ({ canReopen }, t) => {
    if (!canReopen) t.skip('The location has no reopen.');
    else for (const turns of [0, 1, 2, 4, 8, 16]) await suite.at((place) => expectOneStateAfterCrash(place, turns));
  });
}

async function expectOneStateAfterCrash(place: Place, turns: number): Promise<void> {
  const storage = await place.open();
  await storage.commit(createAll(former));
  const committing = Promise.allSettled([storage.commit(replace(former, latter))]);
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  const reopened = await place.open('reopen');
  expectOneState(await reopened.list('ada', everything), [former, latter], allOrNothing);
  await committing;
}
