import { expectEqual, rejectionOf } from './expect.ts';
import { all, create, ids, range, remove } from './plants.ts';
import type { Suite } from './suite.ts';
import type { StorageAdapter, Write } from '../storage/storage-adapter.ts';

/** Registers the tests for `commit`. */
export function testCommit({ test }: Suite): void {
  test('a create returns true for a new id; for a taken id, it returns false and changes nothing', async ({ open }) => {
    const storage = await open();
    expectEqual(
      await storage.commit([create('ada', 1n, 'Fern', 'indoor')]),
      [true],
      'A create of a new plant must return true.',
    );
    expectEqual(
      await storage.commit([create('ada', 1n, 'Moss')]),
      [false],
      'A create with a taken id must return false.',
    );
    const fern = { id: 1n, name: 'Fern', tag: 'indoor' };
    expectEqual(await all(storage, 'ada'), [fern], 'A create with a taken id must not change the stored plant.');
  });

  test('a delete returns whether the plant existed', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n)]);
    expectEqual(await storage.commit([remove('ada', 1n)]), [true], 'A delete of a stored plant must return true.');
    expectEqual(await storage.commit([remove('ada', 1n)]), [false], 'A delete of an absent plant must return false.');
    expectEqual(await all(storage, 'ada'), [], 'list must not return a deleted plant.');
    expectEqual(
      await storage.commit([create('ada', 1n, 'again')]),
      [true],
      'After a delete, a create with the same id must return true.',
    );
  });

  test('commit returns the outcomes in the order of the writes, for creates and deletes of several users', async ({
    open,
  }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n), create('bob', 2n)]);
    const batch = [
      remove('bob', 1n),
      create('ada', 2n),
      create('ada', 1n),
      remove('bob', 2n),
      create('eve', 1n),
      remove('eve', 9n),
    ];
    const outcomes = [false, true, false, true, true, false];
    expectEqual(
      await storage.commit(batch),
      outcomes,
      'commit must return one outcome for each write, in the order of the batch.',
    );
    expectEqual(
      ids(await all(storage, 'ada')),
      [1n, 2n],
      'A create must add the plant only to the plants of its user.',
    );
    expectEqual(await all(storage, 'bob'), [], 'A delete must delete only the plant of its user.');
    expectEqual(ids(await all(storage, 'eve')), [1n], 'A create must add the plant only to the plants of its user.');
  });

  test('a batch may be empty or contain a thousand writes', async ({ open }) => {
    const storage = await open();
    expectEqual(await storage.commit([]), [], 'commit of an empty batch must return an empty array.');
    const batch = range(1000).map((n) => create(`user ${n % 7}`, BigInt(n)));
    expectEqual(
      await storage.commit(batch),
      batch.map(() => true),
      'commit of a thousand creates of new plants must return true for each create.',
    );
  });

  test('commit copies the objects that it is given', async ({ open }) => {
    const storage = await open();
    const plant = { id: 1n, name: 'Fern' };
    await storage.commit([{ kind: 'create', user: 'ada', plant }]);
    plant.name = 'changed';
    const contract = 'A stored plant must not change when the caller changes an object that it passed to commit.';
    expectEqual(await all(storage, 'ada'), [{ id: 1n, name: 'Fern' }], contract);
  });

  for (const position of [3, 6]) {
    test(`a batch is all or nothing if its write ${position + 1} of 7 throws when it is read`, async ({ open }) => {
      const storage = await open();
      await storage.commit(storedBefore);
      const batch = batchWith(unreadableCreate, position);
      await rejectionOf(
        storage.commit(batch),
        'commit must reject a batch if one of its writes throws when it is read.',
      );
      await expectNothingWritten([storage]);
    });
  }
}

/** The writes that a test commits before it commits the failing batch. */
export const storedBefore: readonly Write[] = [create('ada', 1n), create('ada', 2n), create('bob', 1n)];

/**
 * Returns a batch with the failing write at `position`. The other writes do not affect the plants 2 and 13 of user ada.
 */
export function batchWith(failing: Write, position: number): Write[] {
  const others = [
    create('ada', 11n),
    remove('ada', 1n),
    create('ada', 12n),
    create('ada', 14n),
    remove('bob', 1n),
    create('eve', 1n),
  ];
  return [...others.slice(0, position), failing, ...others.slice(position)];
}

/** Asserts that a failed batch changed nothing, and that each of these adapters can still commit. */
export async function expectNothingWritten(storages: readonly StorageAdapter[]): Promise<void> {
  for (const [index, storage] of storages.entries()) {
    const where = index === 0 ? 'same adapter' : 'second adapter on the same location';
    const contract = `A commit is all or nothing: after a failed commit, the ${where} must show none of its writes.`;
    for (const { user, before } of [
      { user: 'ada', before: [1n, 2n] },
      { user: 'bob', before: [1n] },
      { user: 'eve', before: [] },
    ]) {
      expectEqual(
        ids(await all(storage, user)),
        before,
        `${contract} These are the ids that list returned for ${user}.`,
      );
    }
    const keys = (await storage.scan({ after: undefined, limit: 1000 })).map(
      ({ user, plant }) => `${user} ${plant.id}`,
    );
    expectEqual(keys, ['ada 1', 'ada 2', 'bob 1'], `${contract} These are the plants that scan returned.`);
  }
  for (const storage of storages) {
    const contract = 'A commit after a failed commit must succeed.';
    expectEqual(await storage.commit([create('ada', 15n), remove('ada', 1n)]), [true, true], contract);
    expectEqual(await storage.commit([remove('ada', 15n), create('ada', 1n)]), [true, true], contract);
  }
}

/**
 * A create that throws when its `name` is read. An adapter that reads and applies writes one by one would fail in the
 * middle of the batch.
 */
const unreadableCreate: Write = {
  kind: 'create',
  user: 'ada',
  plant: {
    id: 13n,
    get name(): string {
      throw new Error('The test suite intentionally throws this error when the name of this plant is read.');
    },
  },
};
