import { maxInt64, minInt64 } from '../core/model/plant.ts';
import { idOf } from '../core/storage-adapter.ts';
import type { Write } from '../core/storage-adapter.ts';
import { commitText, expectEqual, expectList, expectRejection, expectStored } from './checked-adapter.ts';
import type { CheckedAdapter } from './checked-adapter.ts';
import type { Place, Tests } from './place.ts';
import { ReferenceStore, create, integersBelow, remove } from './plants.ts';

/** Users that look alike. Each test uses some of them. */
const lookAlikes = [
  ['ada', 'ada2', 'bob'],
  ['ada', 'Ada', 'ada '],
  ['e', '\u00e9', 'e\u0301'],
] as const;
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

  // The storage fails at a create of an absent plant, or at a delete of a stored one. Before the first commit, some
  // adapters have no table in which a write could fail.
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
export const randomTests: Tests = Object.fromEntries(
  [2, 4, 8, 16, 32, 64].map((count, n) => [
    `${count} random batches have the outcomes that the contract describes`,
    (place) => {
      const [user, ...others] = lookAlikes[n % 3] ?? lookAlikes[0];
      return commitRandomly(place, count, [user, ...others], n % 2 === 0 ? create(50, user) : remove(50, user));
    },
  ]),
);
