import assert from 'node:assert/strict';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { maxInt64, minInt64 } from '../core/model/plant.ts';
import { idOf } from '../core/storage-adapter.ts';
import type { OwnedPlant, Write } from '../core/storage-adapter.ts';
import { commitText, expectList, expectRejection, expectStored } from './checked-adapter.ts';
import type { CheckedAdapter } from './checked-adapter.ts';
import { Skip } from './place.ts';
import type { Place, Tests } from './place.ts';
import { ReferenceStore, create, createEach, firstPage, integersBelow, plantOf } from './plants.ts';
import { remove, removeEach, shuffled } from './plants.ts';

const allOrNothing = 'A commit must be all or nothing, also for lists while it is in progress, and after a crash.';

/** Two sets of plants of the user ada. A commit of a thousand writes replaces one set with the other. */
const former = integersBelow(500).map((n) => plantOf('ada', n));
const latter = integersBelow(500).map((n) => plantOf('ada', 500 + n));
const replacing = shuffled([...removeEach(former), ...createEach(latter)]);
const restoring = shuffled([...removeEach(latter), ...createEach(former)]);

/** Lists the plants of ada, which must be the first plants of one set. Returns this set. */
async function listOneSet(storage: CheckedAdapter): Promise<readonly OwnedPlant[]> {
  const page = await storage.list('ada', firstPage);
  const { length } = page.plants;
  const found = [former, latter].find((set) => {
    const plants = set.slice(0, length).map(({ plant }) => plant);
    return length > 0 && isDeepStrictEqual(page, { plants, hasMore: length < set.length });
  });
  const ids = `${page.plants[0]?.id ?? ''} to ${page.plants.at(-1)?.id ?? ''}`;
  assert.ok(found, `${allOrNothing} A list returned ${length} plants, with the ids ${ids}.`);
  return found;
}

/** Calls `observe` repeatedly until the commit settles. The first call begins before the commit. */
async function observeDuring(commit: () => Promise<unknown>, observe: () => Promise<unknown>): Promise<void> {
  let isRunning = true as boolean;
  const observeAll = async (): Promise<void> => {
    for (let count = 1; isRunning; count++) {
      await observe();
      // The first calls run without pauses. Later pauses let timers and I/O of the commit proceed.
      if (count > 20) await sleep(5);
    }
  };
  await Promise.all([observeAll(), commit().finally(() => (isRunning = false))]);
}

/** Commits a batch that contains the write at which the storage fails. */
function commitFailing(storage: CheckedAdapter, batch: readonly Write[]): Promise<void> {
  const rule = `${commitText(batch)} must reject, because a write fails. If it did not fail, check makeWriteFail.`;
  return expectRejection(storage.commit(batch), rule);
}

const ids = [minInt64, -2n, -1n, 0n, 1n, 2n, 3n, 4n, maxInt64];

/**
 * Commits random batches through one or two adapters, and compares the stored plants with a model. The batches are the
 * same in every run. `failing` is the write at which the storage fails, if the option `makeWriteFail` exists.
 */
async function commitRandomly(place: Place, seed: number, users: readonly string[], failing: Write): Promise<void> {
  // Park and Miller's random number generator.
  const random = (end: number): number => (seed = (seed * 48_271) % 2_147_483_647) % end;
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  // An adapter that stores lines of text must escape these names.
  const name = (): string => `a "plant"\r\n\\ ${random(100)}`;
  const randomWrite = (): Write =>
    random(5) < 3 ? create(pick(ids), pick(users), name()) : remove(pick(ids), pick(users));

  let adapters: readonly CheckedAdapter[] = await place.openAll();
  const stored = new ReferenceStore();
  const calls: string[] = [];
  const commit = async (batch: readonly Write[]): Promise<void> => {
    const adapter = pick(adapters);
    const end = batch.includes(failing) ? `, which fails at ${failing.kind} ${idOf(failing)}` : '';
    calls.push(`adapter ${adapters.indexOf(adapter) + 1}: ${commitText(batch)}${end}`);
    if (end !== '') return commitFailing(adapter, batch);
    return adapter.commitLike(stored, batch);
  };

  try {
    // A delete can fail only if its plant is stored.
    await commit([create(50, failing.user)]);
    let canFail = place.options.makeWriteFail !== undefined;
    if (canFail) await place.makeWriteFail(failing);
    for (let n = 0; n < 64; n++) {
      if (n === 48 && place.canReopen) {
        calls.push('reopen()');
        adapters = [await place.open('reopen')];
        // After that, the write that was made to fail might succeed.
        canFail = false;
      }
      const writes = integersBelow(random(8)).map(randomWrite);
      const batch = [...new Map(writes.map((write) => [`${write.user} ${idOf(write)}`, write])).values()];
      if (canFail && random(3) === 0) batch.splice(random(batch.length + 1), 0, failing);
      await commit(batch);
      for (const each of adapters) await expectStored(each, stored);
      const range = { after: pick([undefined, ...ids]), limit: 1 + random(6) };
      await expectList(pick(adapters), pick(users), range, stored);
    }
  } catch (error) {
    const steps = ['The last calls:', ...calls.slice(-10)].join('\n  ');
    throw new Error(`${(error as Error).message}\n${steps}`, { cause: error });
  }
}

export const commitTests: Tests = {
  'lists during a commit of 1000 writes show all of its writes or none': async (place) => {
    const storages = await place.openAll();
    await storages[0].commit(createEach(former));
    // Each adapter must be able to list twice at the same time.
    const listTwice = (): Promise<unknown> => Promise.all([...storages, ...storages].map(listOneSet));
    for (const batch of [replacing, restoring, replacing, restoring, replacing, restoring]) {
      await observeDuring(() => storages[0].commit(batch), listTwice);
    }
    await expectStored(storages[0], former);
  },

  'a commit that fails never makes any of its writes visible': async (place) => {
    const storages = await place.openAll();
    await storages[0].commit(createEach(former));
    const failing = create(2000);
    await place.makeWriteFail(failing);
    await commitFailing(storages[0], [failing]);
    const batch = [...replacing.slice(0, -1), failing];
    const expectFormer = (): Promise<unknown> =>
      Promise.all(storages.map((storage) => expectStored(storage, former, allOrNothing)));
    await observeDuring(() => commitFailing(storages[0], batch), expectFormer);
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
      const isSeen = iterations > 2 && (await listOneSet(storage)) === latter;
      const kept = await listOneSet(await place.open('reopen'));
      assert.ok(kept === latter || !isSeen, 'A commit that a list has shown must be durable.');
      await committing;
      storage = await place.open('reopen');
    }
  },

  'dataVersion changes with every commit of another adapter, not too early, and never recurs': async (place) => {
    const [storage, other] = await place.openAll();
    if (other?.version() === undefined) throw new Skip('The adapter has no dataVersion, or shared is not true.');
    const versions = new Set([other.version()]);
    for (const n of integersBelow(300)) {
      const write = n % 2 === 0 ? create(n, 'bob') : remove(n - 1, 'bob');
      // In the longer batches, only the second write changes the storage.
      await storage.commit(n < 150 ? [write] : [remove(-1), write, remove(-2)]);
      const version = other.version();
      assert.ok(!versions.has(version), `After a commit of another adapter, dataVersion() returned ${version} again.`);
      if (n % 10 === 0) await other.commit([create(n, 'eve')]);
      versions.add(version).add(other.version());
    }

    await storage.commit(createEach(former));
    const stale = new Set<number | undefined>();
    const addStaleVersion = async (): Promise<void> => {
      const version = other.version();
      if ((await listOneSet(other)) === former) stale.add(version);
    };
    await observeDuring(() => storage.commit(replacing), addStaleVersion);
    assert.ok(!stale.has(other.version()), 'dataVersion() must change after a list that did not return a new commit.');
  },

  'random batches have the outcomes that the contract describes, even if a create fails': (place) =>
    commitRandomly(place, 1, ['ada', 'Ada', 'ada '], create(51, 'ada')),
  'random batches have the outcomes that the contract describes, even if a delete fails': (place) =>
    commitRandomly(place, 2, ['e', '\u00e9', 'e\u0301'], remove(50, 'e')),
};
