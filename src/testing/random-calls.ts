import { performance } from 'node:perf_hooks';
import { maxInt64, minInt64 } from '../core/model/int64.ts';
import { idOf } from '../core/storage-adapter.ts';
import type { Write } from '../core/storage-adapter.ts';
import type { CheckedAdapter } from './checked-adapter.ts';
import { commitText, expectEqual, listText } from './expect.ts';
import type { Place } from './place.ts';
import { create, range, remove } from './plants.ts';
import { ReferenceStore } from './reference-store.ts';
import { expectList, expectRejection, expectStored } from './stored.ts';
import type { Suite } from './suite.ts';

const users = ['ada', 'ada2', 'bob'];
const ids = [minInt64, -2n, -1n, 0n, 1n, 2n, 3n, 4n, maxInt64];
/** The start of every name. An adapter that stores lines of text must escape it. */
const name = 'a "plant"\r\n\\';
const maxSearchMs = 5000;

interface Failure {
  readonly error: Error;
  /** The calls up to the failure, by their index. */
  readonly calls: ReadonlyMap<number, string>;
}

/** Calls one or two adapters, and compares their plants with a model. The calls are the same in every run. */
async function callRandomly(place: Place, count: number, skipped: readonly number[]): Promise<Failure | undefined> {
  // Park and Miller's random number generator.
  let seed = count;
  const random = (end: number): number => (seed = (seed * 48_271) % 2_147_483_647) % end;
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  const randomWrite = (): Write =>
    random(5) < 3 ? create(pick(users), pick(ids), `${name} ${random(100)}`) : remove(pick(users), pick(ids));

  const [first, ...others] = await place.openAll();
  let adapters = [first, ...others];
  const stored = new ReferenceStore();
  const calls = new Map<number, string>();

  async function commit(adapter: CheckedAdapter, batch: readonly Write[]): Promise<void> {
    const expected = batch.map((write) => stored.apply(write));
    expectEqual(await adapter.commit(batch), expected, 'commit must return whether each write changed the storage.');
    for (const each of adapters) each.checkVersion(each !== adapter && expected.includes(true));
  }

  // The storage fails at a create of an absent plant, or at a delete of a stored one. Before the first commit, some
  // adapters have no table in which a write could fail.
  const failing = pick([create('ada', 50n, name), remove('ada', 50n)]);
  await commit(first, failing.kind === 'delete' ? [create('ada', 50n, name)] : []);
  await place.makeWriteFail(failing);
  let { canFail } = place;

  for (const n of range(count)) {
    // A call that is skipped must use as many random numbers as one that is made.
    const [kind, which, position] = [random(36), random(2), random(8)];
    const [user, asked] = [pick(users), { after: pick([undefined, ...ids]), limit: 1 + random(6) }];
    const writes = range(random(8)).map(randomWrite);
    if (skipped.includes(n)) continue;
    const batch = [...new Map(writes.map((write) => [`${write.user} ${idOf(write)}`, write])).values()];
    const index = which % adapters.length;
    const adapter = adapters[index] ?? first;
    const note = (call: string): unknown => calls.set(n, `adapter ${index + 1}: ${call}`);
    try {
      if (kind < 3 && place.canReopen) {
        note('reopen()');
        adapters = [await place.open('reopen')];
        // A reopened storage might apply the write at which the others fail.
        canFail = false;
      } else if (kind < 14) {
        note(listText(user, asked));
        await expectList(adapter, user, asked, stored);
      } else if (kind < 20 && canFail) {
        batch.splice(position % (batch.length + 1), 0, failing);
        note(`${commitText(batch)}, which fails at ${failing.kind} ${idOf(failing)}`);
        await expectRejection(adapter, batch);
      } else {
        note(commitText(batch));
        await commit(adapter, batch);
      }
      for (const each of adapters) await expectStored(each, stored);
    } catch (error) {
      return { error: error as Error, calls };
    }
  }
  return undefined;
}

/** Leaves out calls that are not necessary for the failure. */
async function findShortest(suite: Suite, count: number, failure: Failure): Promise<Failure> {
  const end = performance.now() + maxSearchMs;
  let shortest = failure;
  for (const n of [...failure.calls.keys()].reverse()) {
    if (performance.now() > end) break;
    const { calls } = shortest;
    const skipped = range(count).filter((each) => each === n || !calls.has(each));
    shortest = (await suite.at((place) => callRandomly(place, count, skipped))) ?? shortest;
  }
  return shortest;
}

export function testRandomCalls(suite: Suite): void {
  suite.test('random calls behave as the contract says', async () => {
    for (const count of range(12).map((n) => 4 * n + 4)) {
      const failure = await suite.at((place) => callRandomly(place, count, []));
      if (failure === undefined) continue;
      const { error, calls } = await findShortest(suite, count, failure);
      const steps = [...calls.values()].map((call, index) => `\n  ${index + 1}. ${call}`).join('');
      throw new Error(`${error.message}\nThe calls:${steps}`, { cause: error });
    }
  });
}
