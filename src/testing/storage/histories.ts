import type { ListRange, OwnedPlant, Write } from '../../core/storage-adapter.ts';
import { ContractError, expectEqual } from './expect.ts';
import { create, idOf, range, remove, unreadableCreate } from './plants.ts';
import { expectList, expectRejection, expectStored } from './stored.ts';
import type { Session, Suite } from './suite.ts';
import { commitText, listText } from './tested-adapter.ts';

/** A call of one of the two adapters at the location. */
type Step = { readonly adapter: 0 | 1 } & (
  | { readonly kind: 'commit'; readonly writes: readonly Write[]; readonly failing?: Write }
  | { readonly kind: 'list'; readonly user: string; readonly range: ListRange }
  | { readonly kind: 'reopen' }
);

interface History {
  /** The write at which the storage fails: a create of an absent plant, or a delete of a plant that exists. */
  readonly failing: Write;
  readonly steps: readonly Step[];
}

const users = ['ada', 'ada2', 'bob'];
/** The name of all plants. An adapter that stores lines of text must escape it. */
const name = 'a "plant"\r\n\\';

/** Returns a random number generator (Park and Miller's), which returns integers from 0 to `end - 1`. */
function generator(seed: number): (end: number) => number {
  let state = seed + 1;
  return (end) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % end;
  };
}

function randomHistory(seed: number, canFail: boolean): History {
  const random = generator(seed);
  const failing = seed % 2 === 0 ? create('ada', 50n, name) : remove('ada', 50n);
  const randomId = (): bigint => BigInt(random(9)) - 3n;
  const randomUser = (): string => users[random(users.length)] ?? '';
  const randomWrite = (): Write =>
    random(5) < 3 ? create(randomUser(), randomId(), `${name} ${random(100)}`) : remove(randomUser(), randomId());
  const steps = range(40).map((): Step => {
    const adapter = random(2) === 0 ? 0 : 1;
    if (random(12) === 0) return { adapter, kind: 'reopen' };
    if (random(3) === 0) {
      const after = random(4) === 0 ? undefined : randomId();
      return { adapter, kind: 'list', user: randomUser(), range: { after, limit: 1 + random(6) } };
    }
    const byKey = new Map(
      range(random(8))
        .map(randomWrite)
        .map((write) => [`${write.user} ${idOf(write)}`, write]),
    );
    const writes = [...byKey.values()];
    if (random(4) > 0) return { adapter, kind: 'commit', writes };
    const fault = canFail && random(2) === 0 ? failing : unreadableCreate();
    return { adapter, kind: 'commit', writes: writes.toSpliced(random(writes.length + 1), 0, fault), failing: fault };
  });
  return { failing, steps };
}

function apply(plants: Map<string, OwnedPlant>, write: Write): boolean {
  const key = `${write.user} ${idOf(write)}`;
  if (write.kind === 'delete') return plants.delete(key);
  if (plants.has(key)) return false;
  plants.set(key, { user: write.user, plant: write.plant });
  return true;
}

async function runHistory(suite: Suite, session: Session, { failing, steps }: History): Promise<void> {
  const location = await session.createLocation();
  let storages = await session.openAll(location);
  let isReopened = false;
  const plants = new Map<string, OwnedPlant>();
  const first = failing.kind === 'delete' ? [create('ada', 50n, name)] : [];
  await storages[0].commit(first);
  for (const write of first) apply(plants, write);
  if (suite.options.makeWriteFail) await session.makeWriteFail(location, failing);
  for (const step of steps) {
    const storage = storages[step.adapter] ?? storages[0];
    if (step.kind === 'list') {
      await expectList(storage, step.user, step.range, [...plants.values()]);
      continue;
    }
    if (step.kind === 'reopen') {
      if (!suite.options.persistent || location.reopen === undefined) continue;
      storages = [await session.reopen(location)];
      isReopened = true;
    } else if (step.failing) {
      // After `reopen`, the storage might not fail any more.
      if (isReopened && step.failing === failing) continue;
      await expectRejection(storage, step.writes, step.failing);
    } else {
      const outcomes = await storage.commit(step.writes);
      const expected = step.writes.map((write) => apply(plants, write));
      expectEqual(outcomes, expected, `${commitText(step.writes)} must return whether each write changed the storage.`);
    }
    for (const each of storages) await expectStored(each, [...plants.values()]);
  }
}

function describeStep(step: Step): string {
  if (step.kind === 'reopen') return 'reopen';
  if (step.kind === 'list') return `adapter ${step.adapter + 1}: ${listText(step.user, step.range)}`;
  const fault = step.failing ? `, which fails at ${step.failing.kind} ${idOf(step.failing)}` : '';
  return `adapter ${step.adapter + 1}: ${commitText(step.writes)}${fault}`;
}

/** Registers the test of random calls. The calls are the same in every run. */
export function testHistories(suite: Suite): void {
  suite.test('random commits, failures and lists behave as the contract says', async () => {
    const errorOf = (history: History): Promise<Error | undefined> =>
      suite.errorOf((session) => runHistory(suite, session, history));
    for (const seed of range(12)) {
      let history = randomHistory(seed, suite.options.makeWriteFail !== undefined);
      let error = await errorOf(history);
      if (error === undefined) continue;
      // Removes first large and then small parts of the history, as long as it still fails.
      for (let size = 16; size >= 1; size /= 2) {
        for (let at = 0; at < history.steps.length;) {
          const shorter = { ...history, steps: history.steps.toSpliced(at, size) };
          const again = await errorOf(shorter);
          if (again === undefined) at += size;
          else [history, error] = [shorter, again];
        }
      }
      const steps = history.steps.map((step, index) => `\n  ${index + 1}. ${describeStep(step)}`).join('');
      throw new ContractError(`${error.message}\nThe shortest history that fails:${steps}`, { cause: error });
    }
  });
}
