import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { maxInt64, minInt64 } from '../core/model/plant.ts';
import { idOf } from '../core/storage-adapter.ts';
import type { OwnedPlant, PlantPage, Write } from '../core/storage-adapter.ts';
import { commitText, expectEqual, expectList, expectRejection, expectStored } from './checked-adapter.ts';
import type { CheckedAdapter } from './checked-adapter.ts';
import { Skip } from './place.ts';
import type { Place, Tests } from './place.ts';
import { ReferenceStore, create, createEach, firstPage, integersBelow, plantOf } from './plants.ts';
import { remove, removeEach, shuffled } from './plants.ts';

const allOrNothing = 'A commit must be all or nothing, also for lists while it is in progress, and after a crash.';
const noticed = 'dataVersion() must change after a list that did not return the plants of a commit in progress.';

/** Two sets of plants of the user ada. A commit of a thousand writes replaces one set with the other. */
const former = integersBelow(500).map((n) => plantOf('ada', n));
const latter = integersBelow(500).map((n) => plantOf('ada', 500 + n));
const replacing = shuffled([...removeEach(former), ...createEach(latter)]);
const restoring = shuffled([...removeEach(latter), ...createEach(former)]);

/** Returns the index of the state that the page shows. The page must consist of the first plants of a state. */
function expectOneState(page: PlantPage, states: readonly OwnedPlant[][]): number {
  const { length } = page.plants;
  const index = states.findIndex((state) => {
    const plants = state.slice(0, length).map(({ plant }) => plant);
    return length > 0 && isDeepStrictEqual(page, { plants, hasMore: length < state.length });
  });
  const ids = `${page.plants[0]?.id ?? ''} to ${page.plants.at(-1)?.id ?? ''}`;
  assert.notEqual(index, -1, `${allOrNothing} A list returned ${length} plants, with the ids ${ids}.`);
  return index;
}

/** Lists the plants through each adapter until the commit settles. Each list must show one of the given states. */
async function expectOneStateDuring(
  commit: () => Promise<unknown>,
  storages: readonly CheckedAdapter[],
  states: readonly OwnedPlant[][],
): Promise<void> {
  const other = storages[1];
  const staleVersions = new Set<number | undefined>();
  let isRunning = true as boolean;
  // Some lists begin before the commit.
  const lists = storages.map((storage) => storage.list('ada', firstPage));
  const settled = Promise.allSettled([commit()]).finally(() => (isRunning = false));
  for (const page of await Promise.all(lists)) expectOneState(page, states);
  for (let count = 0; isRunning; count++) {
    for (const storage of storages) {
      const version = other?.version();
      const state = expectOneState(await storage.list('ada', firstPage), states);
      if (storage === other && state === 0) staleVersions.add(version);
      // A scan during a commit that succeeds can return plants from before and after it.
      if (states.length === 1) await expectStored(storage, states[0] ?? [], allOrNothing);
    }
    // The first lists run without pauses. Later pauses give a slow commit more time.
    if (count > 50) await sleep(5);
  }
  const [result] = await settled;
  if (result.status === 'rejected') throw result.reason;
  const version = other?.version();
  assert.ok(version === undefined || states.length === 1 || !staleVersions.has(version), noticed);
}

export const atomicityTests: Tests = {
  'lists during a commit of 1000 writes show all of its writes or none': async (place) => {
    const storages = await place.openAll();
    await storages[0].commit(createEach(former));
    for (let round = 0; round < 3; round++) {
      await expectOneStateDuring(() => storages[0].commit(replacing), storages, [former, latter]);
      await expectOneStateDuring(() => storages[0].commit(restoring), storages, [latter, former]);
    }
    await expectStored(storages[0], former);
  },

  'a commit that fails never makes any of its writes visible': async (place) => {
    const storages = await place.openAll();
    await storages[0].commit(createEach(former));
    const failing = create(2000);
    await place.makeWriteFail(failing);
    await expectRejection(storages[0], [failing]);
    const batch = [...replacing.slice(0, -1), failing];
    await expectOneStateDuring(() => expectRejection(storages[0], batch), storages, [former]);
    await sleep(150);
    await expectStored(storages[0], former, 'When commit has rejected, its writes must not take effect later.');
  },

  'a crash during a commit leaves all of its writes or none': async (place) => {
    if (!place.canReopen) throw new Skip('The option shared is false, or the location has no reopen.');
    let storage = await place.open();
    for (const iterations of [0, 1, 2, 4, 8, 16]) {
      await storage.commit(restoring);
      const committing = Promise.allSettled([storage.commit(replacing)]);
      for (let n = 0; n < iterations; n++) await setImmediate();
      // If a list already shows the commit, it must be durable.
      const isSeen = iterations > 2 && expectOneState(await storage.list('ada', firstPage), [former, latter]) === 1;
      const reopened = await place.open('reopen');
      expectOneState(await reopened.list('ada', firstPage), isSeen ? [latter] : [former, latter]);
      await committing;
      storage = await place.open('reopen');
    }
  },
};

const ids = [minInt64, -2n, -1n, 0n, 1n, 2n, 3n, 4n, maxInt64];
/** The start of every name. An adapter that stores lines of text must escape it. */
const name = 'a "plant"\r\n\\';

/**
 * Commits random batches through one or two adapters, and compares the stored plants with a model. If the storage can
 * be reopened, it is reopened halfway. The batches are the same in every run.
 */
async function commitRandomly(place: Place, count: number, users: readonly string[], failing: Write): Promise<void> {
  // Park and Miller's random number generator.
  let seed = count;
  const random = (end: number): number => (seed = (seed * 48_271) % 2_147_483_647) % end;
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  const randomBatch = (): Write[] => {
    const writes = integersBelow(random(8)).map(() =>
      random(5) < 3 ? create(pick(ids), pick(users), `${name} ${random(100)}`) : remove(pick(ids), pick(users)),
    );
    return [...new Map(writes.map((write) => [`${write.user} ${idOf(write)}`, write])).values()];
  };

  let adapters: readonly CheckedAdapter[] = await place.openAll();
  const stored = new ReferenceStore();
  const calls: string[] = [];
  const callText = (adapter: CheckedAdapter, batch: readonly Write[]): string =>
    `adapter ${adapters.indexOf(adapter) + 1}: ${commitText(batch)}`;
  const commit = async (adapter: CheckedAdapter, batch: readonly Write[]): Promise<void> => {
    calls.push(callText(adapter, batch));
    const expected = batch.map((write) => stored.apply(write));
    expectEqual(await adapter.commit(batch), expected, 'commit must return whether each write changed the storage.');
    for (const each of adapters) each.checkVersion(each !== adapter && expected.includes(true));
  };

  // A delete can fail only if its plant is stored. For a create, the first commit is empty. It lets an adapter create
  // the table in which the write fails.
  await commit(pick(adapters), failing.kind === 'delete' ? [create(idOf(failing), failing.user)] : []);
  let canFail = place.options.makeWriteFail !== undefined;
  if (canFail) await place.makeWriteFail(failing);

  try {
    for (let n = 0; n < count; n++) {
      if (n === count / 2 && place.canReopen) {
        calls.push('reopen()');
        adapters = [await place.open('reopen')];
        // After a reopening, the write that was made to fail might succeed.
        canFail = false;
      }
      const adapter = pick(adapters);
      const batch = randomBatch();
      if (canFail && random(3) === 0) {
        batch.splice(random(batch.length + 1), 0, failing);
        calls.push(`${callText(adapter, batch)}, which fails at ${failing.kind} ${idOf(failing)}`);
        await expectRejection(adapter, batch);
      } else {
        await commit(adapter, batch);
      }
      for (const each of adapters) await expectStored(each, stored);
      const range = { after: pick([undefined, ...ids]), limit: 1 + random(6) };
      await expectList(pick(adapters), pick(users), range, stored);
    }
  } catch (error) {
    const steps = calls.slice(-10).map((call) => `\n  ${call}`);
    throw new Error(`${(error as Error).message}\nThe last calls:${steps.join('')}`, { cause: error });
  }
}

/** The counts ascend, so that the first test that fails shows a short sequence of calls. */
export const randomTests: Tests = {
  '2 random batches have the outcomes that the contract describes': (place) =>
    commitRandomly(place, 2, ['ada', 'ada2', 'bob'], create(50, 'ada')),
  '4 random batches have the outcomes that the contract describes': (place) =>
    commitRandomly(place, 4, ['ada', 'Ada', 'ada '], remove(50, 'ada')),
  '8 random batches have the outcomes that the contract describes': (place) =>
    commitRandomly(place, 8, ['e', '\u00e9', 'e\u0301'], create(50, 'e')),
  '16 random batches have the outcomes that the contract describes': (place) =>
    commitRandomly(place, 16, ['ada', 'ada2', 'bob'], remove(50, 'ada')),
  '32 random batches have the outcomes that the contract describes': (place) =>
    commitRandomly(place, 32, ['ada', 'Ada', 'ada '], create(50, 'ada')),
  '64 random batches have the outcomes that the contract describes': (place) =>
    commitRandomly(place, 64, ['e', '\u00e9', 'e\u0301'], remove(50, 'e')),
};
