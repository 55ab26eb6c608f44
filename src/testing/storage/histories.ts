import { idOf } from '../../core/storage-adapter.ts';
import type { OwnedPlant, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { expectEqual, shown } from './expect.ts';
import type { StorageAdapterTestOptions } from './options.ts';
import { create, faulty, range, remove, unreadableCreate } from './plants.ts';
import { test } from './session.ts';
import type { Session } from './session.ts';
import { expectList, expectRejection, expectStored, listText } from './stored.ts';

const users = ['ada', 'ada2', 'bob'];
/** The start of every name. An adapter that stores lines of text must escape it. */
const name = 'a "plant"\r\n\\';

/** Returns a random number generator (Park and Miller's), which returns integers from 0 to `end - 1`. */
function generator(seed: number): (end: number) => number {
  let state = seed;
  return (end) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % end;
  };
}

function apply(plants: Map<string, OwnedPlant>, write: Write): boolean {
  const key = `${write.user} ${idOf(write)}`;
  if (write.kind === 'delete') return plants.delete(key);
  if (plants.has(key)) return false;
  plants.set(key, { user: write.user, plant: write.plant });
  return true;
}

function commitText(writes: readonly Write[]): string {
  return `commit([${writes.map((each) => `${each.kind} ${shown(each.user)} ${idOf(each)}`).join(', ')}])`;
}

/** Calls one or two adapters, and compares their plants with a Map. Adds a description of each call to `calls`. */
async function callRandomly(
  options: StorageAdapterTestOptions,
  session: Session,
  random: (end: number) => number,
  count: number,
  calls: string[],
): Promise<void> {
  const location = await session.createLocation();
  const plants = new Map<string, OwnedPlant>();
  let storages: readonly StorageAdapter[] = await session.openAll(location);
  // The write that must fail: a create of an absent plant, or a delete of a stored one.
  const failing = random(2) === 0 ? create('ada', 50n, name) : remove('ada', 50n);
  let canFail = options.makeWriteFail !== undefined;
  const first = failing.kind === 'delete' ? [create('ada', 50n, name)] : [];
  // Some adapters create their tables at the first call. Before it, they cannot be made to fail.
  await storages[0]?.commit(first);
  for (const write of first) apply(plants, write);
  await options.makeWriteFail?.(location, faulty(failing));

  const randomId = (): bigint => BigInt(random(9)) - 3n;
  const randomUser = (): string => users[random(users.length)] ?? '';
  const randomWrite = (): Write =>
    random(5) < 3 ? create(randomUser(), randomId(), `${name} ${random(100)}`) : remove(randomUser(), randomId());

  async function list(storage: StorageAdapter): Promise<void> {
    const user = randomUser();
    const given = { after: random(4) === 0 ? undefined : randomId(), limit: 1 + random(6) };
    calls.push(listText(user, given));
    await expectList(storage, user, given, [...plants.values()]);
  }

  async function commit(storage: StorageAdapter): Promise<void> {
    const writes = range(random(8)).map(randomWrite);
    const batch = [...new Map(writes.map((write) => [`${write.user} ${idOf(write)}`, write])).values()];
    if (random(4) > 0) {
      calls.push(commitText(batch));
      const outcomes = await storage.commit(batch);
      const expected = batch.map((write) => apply(plants, write));
      expectEqual(outcomes, expected, 'commit must return whether each write changed the storage.');
    } else {
      const fault = canFail && random(2) === 0 ? failing : unreadableCreate();
      batch.splice(random(batch.length + 1), 0, fault);
      calls.push(`${commitText(batch)}, which fails at ${fault.kind} ${idOf(fault)}`);
      await expectRejection(storage, batch);
    }
  }

  for (let n = 0; n < count; n++) {
    const storage = storages[random(storages.length)];
    const reopened = random(12) === 0 && options.shared ? await session.reopen(location) : undefined;
    if (reopened !== undefined) {
      calls.push('reopen');
      storages = [reopened];
      // A reopened storage might apply the write at which the others fail.
      canFail = false;
    } else if (storage !== undefined) {
      await (random(3) === 0 ? list(storage) : commit(storage));
    }
    for (const each of storages) await expectStored(each, [...plants.values()]);
  }
}

/** Registers tests of random calls, the shortest first. The calls are the same in every run. */
export function testHistories(options: StorageAdapterTestOptions): void {
  for (const count of range(16).map((n) => 3 * n + 3)) {
    test(options, `random calls behave as the contract says (${count} calls)`, async (session) => {
      const calls: string[] = [];
      try {
        await callRandomly(options, session, generator(count), count, calls);
      } catch (error) {
        const steps = calls.map((call, index) => `\n  ${index + 1}. ${call}`).join('');
        throw new Error(`${(error as Error).message}\nThe calls:${steps}`, { cause: error });
      }
    });
  }
}
