import type { OwnedPlant, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { expectCode, expectEqual, rejectionOf } from './expect.ts';
import { create, createAll, plantOf, remove } from './plants.ts';
import { expectStored } from './stored.ts';
import type { StorageLocation, Suite, SuiteTest } from './suite.ts';

type Option = 'makeWriteFail' | 'makePlantUnstorable';

/** A way to make a commit fail. */
interface Fault {
  /** The write that fails, and its index in the batch; by default in the middle. */
  readonly write: Write;
  readonly position?: number;
  /** The option that makes the write fail. Without an option, the write throws when the adapter reads it. */
  readonly option?: Option;
}

/** The faults. A key is the clause that follows `if` at the end of the test names. */
const faults: Readonly<Record<string, Fault>> = {
  'its write 4 of 7 throws when it is read': { write: unreadableCreate() },
  'its write 7 of 7 throws when it is read': { write: unreadableCreate(), position: 6 },
  'the storage fails at a create in the middle': { write: create('ada', 13n), option: 'makeWriteFail' },
  'the storage fails at a delete in the middle': { write: remove('ada', 3n), option: 'makeWriteFail' },
  'the storage cannot hold one of its plants, and commit rejects with invalid_plant': {
    write: create('ada', 13n),
    option: 'makePlantUnstorable',
  },
};

/** The plants that are stored before a commit fails. An adapter that stores lines of text must escape their names. */
const stored = ['ada', 'ada', 'ada', 'bob'].map((user, n) => plantOf(user, BigInt(n + 1), 'a "plant"\r\n\\', ''));

/** Checks the adapters that were open when a commit failed. The first of these adapters rejected the commit. */
type Check = (storages: readonly StorageAdapter[], reopen: () => Promise<StorageAdapter>) => Promise<void>;

const nothing = 'A commit is all or nothing: after a failed commit, no adapter on its location must show its writes.';
const exactly = 'After the storage was opened again, it must contain exactly the plants of the commits that succeeded.';

/**
 * The checks that run after a failed commit. A test name consists of a key and the key of a fault. The checks with
 * `reopen` in their keys require a persistent storage.
 */
const checks: Readonly<Record<string, Check>> = {
  'a batch is all or nothing if': async (storages) => {
    for (const storage of storages) await expectStored(storage, stored, { contract: nothing });
    await commitAgain(storages);
  },
  'a batch is all or nothing after reopen if': async (_, reopen) => {
    const reopened = await reopen();
    await expectStored(reopened, stored, { contract: exactly });
    const left = await commitAgain([reopened]);
    await expectStored(await reopen(), left, { contract: exactly });
  },
  'commits after a failed batch survive reopen if': async (storages, reopen) => {
    const left = await commitAgain(storages);
    await expectStored(await reopen(), left, { contract: exactly });
  },
};

/** Registers the tests for failing commits. */
export function testFault({ test, skip, options }: Suite): void {
  const makeFail = (t: SuiteTest, option: Option, location: StorageLocation, { kind, ...write }: Write) => {
    const id = 'plant' in write ? write.plant.id : write.id;
    return t.settle(option, () => options[option]?.(location, { kind, user: write.user, id }));
  };

  /** Registers a test, or reports it as skipped if it requires an option that is missing. */
  function testWith(option: Option | undefined, title: string, body: (t: SuiteTest) => Promise<void>): void {
    if (option === undefined || options[option] !== undefined) test(title, body);
    else skip(`${title}: not tested, because the option ${option} is missing`);
  }

  for (const [title, { write, position = 3, option }] of Object.entries(faults)) {
    for (const [name, check] of Object.entries(checks)) {
      if (name.includes('reopen') && !options.persistent) continue;
      testWith(option, `${name} ${title}`, async (t) => {
        const location = await t.createLocation();
        const storage = await t.open(location);
        await storage.commit(createAll(stored));
        const storages = options.persistent ? [storage, await t.open(location)] : [storage];
        if (option !== undefined) await makeFail(t, option, location, write);
        const committed = storage.commit(otherWrites.toSpliced(position, 0, write));
        const contract = 'commit must reject a batch if the storage fails at one of its writes, or cannot read it.';
        if (option === 'makePlantUnstorable') await expectCode(committed, 'invalid_plant', unstorable);
        else await rejectionOf(committed, contract);
        await check(storages, () => t.reopen(location));
      });
    }
  }
}

const unstorable = 'A commit with a plant that the storage cannot hold must reject with the code invalid_plant.';

/** All writes of a batch except the failing one. None of these writes affects ada's plants 3 and 13. */
const otherWrites: readonly Write[] = [
  ...[create('ada', 11n), remove('ada', 1n), create('ada', 12n)],
  ...[create('ada', 14n), remove('bob', 4n), create('eve', 1n)],
];

/**
 * Returns a create write that throws an error when its `name` is read. An adapter that reads and applies writes one by
 * one would fail in the middle of the batch.
 */
function unreadableCreate(): Write {
  const plant = {
    id: 13n,
    get name(): string {
      throw new Error('The test suite intentionally throws this error when the name of this plant is read.');
    },
  };
  return { kind: 'create', user: 'ada', plant };
}

/** Commits a create write and a delete write through each of the adapters. Returns the plants that are then stored. */
async function commitAgain(storages: readonly StorageAdapter[]): Promise<OwnedPlant[]> {
  const created: OwnedPlant[] = [];
  for (const [index, storage] of storages.entries()) {
    const owned = plantOf('ada', 15n + BigInt(index), 'a "plant"\r\n\\');
    created.push(owned);
    const outcomes = await storage.commit([...createAll([owned]), remove('ada', 1n + BigInt(index))]);
    expectEqual(outcomes, [true, true], 'A commit after a failed commit must succeed.');
  }
  return stored.slice(created.length).toSpliced(-1, 0, ...created);
}
