import { MemoryStorage } from '../../src/index.ts';

export interface HeldStorage {
  readonly storage: MemoryStorage;
  /** Lets all waiting and later calls continue. */
  readonly release: () => void;
  /** Resolves when the first commit begins to wait. */
  readonly committing: Promise<unknown>;
}

/** Creates a storage whose `commit` calls wait. If `lists` is true, `list` calls also wait. */
export function heldStorage({ lists = false } = {}): HeldStorage {
  const storage = new MemoryStorage();
  const [commit, list] = [storage.commit.bind(storage), storage.list.bind(storage)];
  const [begun, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  storage.commit = async (writes) => {
    begun.resolve(undefined);
    await released.promise;
    return commit(writes);
  };
  if (lists) storage.list = (user, range) => released.promise.then(() => list(user, range));
  return {
    storage,
    release: () => {
      released.resolve(undefined);
    },
    committing: begun.promise,
  };
}
