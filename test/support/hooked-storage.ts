import { MemoryStorage } from '../../src/index.ts';
import type { ListRange, PlantPage, Write } from '../../src/index.ts';

const nothing = (): unknown => undefined;

/** A MemoryStorage with hooks that run before or after each call. A hook can record, delay or fail the call. */
export class HookedStorage extends MemoryStorage {
  beforeCommit: (writes: readonly Write[]) => unknown = nothing;
  afterCommit: () => unknown = nothing;
  beforeList: (user: string, range: ListRange) => unknown = nothing;
  afterList: () => unknown = nothing;
  /** The maximum number of plants in a page. */
  maxPage = Infinity;
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
    const page = await super.list(user, { ...range, limit: Math.min(range.limit, this.maxPage) });
    await this.afterList();
    return page;
  }

  override dataVersion(): number {
    if (Number.isNaN(this.version)) throw new Error('no version');
    return this.version;
  }
}

/** A hook that waits until it is released. */
export class Hold {
  readonly #begun = Promise.withResolvers<undefined>();
  readonly #released = Promise.withResolvers<undefined>();
  /** Resolves when the first call begins to wait. */
  readonly begun: Promise<unknown> = this.#begun.promise;

  readonly hook = (): Promise<unknown> => {
    this.#begun.resolve(undefined);
    return this.#released.promise;
  };

  /** Lets all waiting and later calls continue. */
  readonly release = (): void => {
    this.#released.resolve(undefined);
  };
}
