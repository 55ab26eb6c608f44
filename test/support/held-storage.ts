import { MemoryStorage } from '../../src/index.ts';

export interface HeldStorage {
  readonly storage: MemoryStorage;
  /** Lets all waiting and later calls continue. */
  readonly release: () => void;
  /** Resolves when the first commit begins to wait. */
  readonly committing: Promise<unknown>;
  /** Returns the number of calls so far that had to wait. */
  readonly calls: () => number;
}

/** Creates a storage whose `commit` calls wait. If `lists` is true, `list` calls also wait. */
export function heldStorage({ lists = false } = {}): HeldStorage {
  const storage = new MemoryStorage();
  const [commit, list] = [storage.commit.bind(storage), storage.list.bind(storage)];
  const [begun, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let calls = 0;
  const wait = (): Promise<undefined> => {
    calls++;
    return released.promise;
  };
  storage.commit = async (writes) => {
    begun.resolve(undefined);
    await wait();
    return commit(writes);
  };
  if (lists) storage.list = (user, range) => wait().then(() => list(user, range));
  return {
    storage,
    release: () => {
      released.resolve(undefined);
    },
    committing: begun.promise,
    calls: () => calls,
  };
}
