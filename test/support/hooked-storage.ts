import { MemoryStorage } from '../../src/index.ts';
import type { ListRange, PlantPage, Write } from '../../src/index.ts';

const nothing = (): unknown => undefined;

/** A MemoryStorage with hooks that run before or after each call. A hook can record, delay or fail the call. */
export class HookedStorage extends MemoryStorage {
  beforeCommit: (writes: readonly Write[]) => unknown = nothing;
  afterCommit: () => unknown = nothing;
  beforeList: (user: string, range: ListRange) => unknown = nothing;
  afterList: () => unknown = nothing;
  /** NaN makes `dataVersion` throw an error. */
  version = 0;

  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    await this.beforeCommit(writes);
    const outcomes = await super.commit(writes);
    await this.afterCommit();
    return outcomes;
  }

  override async list(user: string, range: ListRange): Promise<PlantPage> {
    await this.beforeList(user, range);
    const page = await super.list(user, range);
    await this.afterList();
    return page;
  }

  override dataVersion(): number {
    if (Number.isNaN(this.version)) throw new Error('no version');
    return this.version;
  }
}

/** Returns a hook that waits until `release` is called, and then no longer waits. */
export function holdUntilReleased(): { hook: () => Promise<unknown>; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return {
    hook: () => promise,
    release: () => {
      resolve(undefined);
    },
  };
}
