import { maxInt64 } from '../../core/model/int64.ts';
import type { Write } from '../../core/storage-adapter.ts';
import { expect, expectCode, expectEqual, fail, shown } from './expect.ts';
import { create, createAll, plantOf, range, remove } from './plants.ts';
import { expectStored, scanAll } from './stored.ts';
import type { Suite } from './suite.ts';

/** Registers the tests for `close`. */
export function testClose({ test, options: { persistent } }: Suite): void {
  test('every call after close rejects with the code closed', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n)]);
    await storage.close();
    const everything = { after: undefined, limit: 1 };
    const calls = {
      commit: () => storage.commit([create('ada', 2n)]),
      list: () => storage.list('ada', everything),
      scan: () => scanAll(storage),
    };
    for (const [method, call] of Object.entries<() => Promise<unknown>>(calls)) {
      const contract = `After close, ${method} must reject with a PlantStoreError that has the code closed.`;
      await expectCode(call(), 'closed', contract);
    }
  });

  test('a second call to close does nothing', async ({ open }) => {
    const storage = await open();
    await storage.close();
    await expectClosed(storage.close(), 'A second call to close must do nothing.');
  });

  test('close may be called during a commit and a list call, which then succeed or reject', async (t) => {
    const location = await t.createLocation();
    const storage = await t.open(location);
    const committed = storage.commit([create('ada', 1n)]);
    const listed = storage.list('ada', { after: undefined, limit: 1 });
    const settled = Promise.allSettled([committed, listed]);
    await expectClosed(storage.close(), 'close must succeed during a commit and a list call.');
    const [{ status }] = await settled;
    if (status === 'rejected') return;
    expectEqual(await committed, [true], 'A commit that succeeds during close must return its outcome.');
    const durable = 'A commit that succeeds must be durable, even if close was called during the commit.';
    if (persistent) await expectStored(await t.reopen(location), [plantOf('ada', 1n)], { contract: durable });
  });
}

function expectClosed(closing: Promise<void>, contract: string): Promise<void> {
  return closing.catch((error: unknown) => fail(`${contract} It rejected with ${shown(error)}.`));
}

/** Registers the tests for the `persistent` option: whether adapters with the same location share their plants. */
export function testSecondAdapter({ test, options: { persistent } }: Suite): void {
  const contract = persistent
    ? 'If persistent is true, all adapters on the same location must share the same plants.'
    : 'If persistent is false, every adapter must have its own plants and must be empty when it is opened.';

  const titles = persistent
    ? ([
        'an adapter returns the plants of a closed adapter on its location',
        'a commit of one adapter is immediately visible to another adapter',
        'of two concurrent creates of the same plant, exactly one succeeds',
      ] as const)
    : ([
        'an adapter is empty when it is opened, even if a closed adapter on its location had plants',
        'a commit of one adapter is never visible to another adapter',
        'two adapters can create plants with the same id',
      ] as const);

  test(titles[0], async ({ createLocation, open }) => {
    const location = await createLocation();
    const first = await open(location);
    const stored = [plantOf('ada', maxInt64, 'Fern', ''), plantOf('bob', 2n)];
    await first.commit([...createAll(stored), create('ada', 2n)]);
    await first.commit([remove('ada', 2n)]);
    await first.close();
    await expectStored(await open(location), persistent ? stored : [], { contract });
  });

  test(titles[1], async ({ createLocation, open }) => {
    const location = await createLocation();
    const [first, second] = [await open(location), await open(location)];
    const stored = [plantOf('ada', 1n)];
    await first.commit(createAll(stored));
    await expectStored(second, persistent ? stored : [], { contract });
    expectEqual(await second.commit(createAll(stored)), [!persistent], contract);
    expectEqual(await second.commit([remove('ada', 1n)]), [true], contract);
    await expectStored(first, persistent ? [] : stored, { contract });
  });

  test(titles[2], async ({ createLocation, open }) => {
    const location = await createLocation();
    const [first, second] = [await open(location), await open(location)];
    const stored = range(50).map((n) => plantOf('ada', BigInt(n)));
    for (const owned of stored) {
      const outcomes = await Promise.all([first.commit(createAll([owned])), second.commit(createAll([owned]))]);
      expect(
        outcomes.flat().filter(Boolean).length === (persistent ? 1 : 2),
        `${contract} Two adapters concurrently created plant ${owned.plant.id} of the user ada, and their creates ` +
          `returned ${outcomes.join(' and ')}. ${persistent ? 'Exactly one create' : 'Both creates'} must return true.`,
      );
    }
    for (const storage of [first, second]) await expectStored(storage, stored, { contract });
  });
}

/** Changes by another adapter, one write per commit. Before the first change, the user ada has the plants 1 and 2. */
const changes: Readonly<Record<string, readonly Write[]>> = {
  'a create': [create('ada', 3n)],
  'a delete': [remove('ada', 1n)],
  'a delete and a create with the same id': [remove('ada', 2n), create('ada', 2n, 'Moss')],
  'a create and its delete': [create('ada', 4n), remove('ada', 4n)],
};

/** Registers the test for the optional `dataVersion` method. */
export function testDataVersion({ test, options: { persistent } }: Suite): void {
  test('dataVersion changes with a commit of another adapter', async ({ createLocation, open, skipWithout }) => {
    const location = await createLocation();
    const storage = await open(location);
    if (storage.dataVersion === undefined) return skipWithout('dataVersion');
    const other = await open(location);
    const own = [plantOf('ada', 1n), plantOf('ada', 2n)];
    await storage.commit(createAll(own));
    const versions = [storage.dataVersion()];
    for (const [change, writes] of Object.entries(changes)) {
      for (const write of writes) await other.commit([write]);
      const version = storage.dataVersion();
      if (persistent) {
        const seen = `dataVersion returned ${versions.join(', ')} and, after ${change} by another adapter, ${version}.`;
        expect(!versions.includes(version), `${seen} The number must be a new one after every change of the plants.`);
      } else expectEqual(version, versions[0], 'dataVersion must not change if list does not change.');
      versions.push(version);
    }
    const stored = persistent ? [plantOf('ada', 2n, 'Moss'), plantOf('ada', 3n)] : own;
    await expectStored(storage, stored, { contract: 'list must return the plants that exist.' });
  });
}
