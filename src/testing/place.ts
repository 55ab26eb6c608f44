import type { TestContext } from 'node:test';
import { idOf } from '../core/storage-adapter.ts';
import type { Write } from '../core/storage-adapter.ts';
import { CheckedAdapter } from './checked-adapter.ts';
import type { Deadline } from './deadline.ts';
import type { StorageAdapterTestOptions, StorageLocation } from './options.ts';

/** Tests by their titles. Each test receives its own place. */
export type Tests = Readonly<Record<string, (place: Place, t: Pick<TestContext, 'skip'>) => Promise<void>>>;

/** A location, and the adapters that a test opens there. */
export class Place {
  readonly shared: boolean;
  readonly canReopen: boolean;
  readonly canFail: boolean;
  readonly deadline: Deadline;
  readonly #options: StorageAdapterTestOptions;
  readonly #location: StorageLocation;
  readonly #adapters: CheckedAdapter[] = [];

  constructor(options: StorageAdapterTestOptions, deadline: Deadline, location: StorageLocation) {
    this.shared = options.shared;
    this.canReopen = options.shared && location.reopen !== undefined;
    this.canFail = options.makeWriteFail !== undefined;
    this.deadline = deadline;
    this.#options = options;
    this.#location = location;
  }

  async open(method: 'open' | 'reopen' = 'open'): Promise<CheckedAdapter> {
    const opening = this.deadline.call(`${method}()`, () => this.#location[method]?.() ?? this.#location.open());
    const adapter = new CheckedAdapter(await opening, this.deadline);
    this.#adapters.push(adapter);
    return adapter;
  }

  /** Opens one adapter or, if adapters share their plants, two. */
  async openAll(): Promise<[CheckedAdapter, ...CheckedAdapter[]]> {
    return this.shared ? [await this.open(), await this.open()] : [await this.open()];
  }

  async makeWriteFail(write: Write): Promise<void> {
    const faulty = { kind: write.kind, user: write.user, id: idOf(write) };
    await this.deadline.call('makeWriteFail()', () => this.#options.makeWriteFail?.(this.#location, faulty));
  }

  async close(): Promise<void> {
    await Promise.all(this.#adapters.map((adapter) => adapter.close()));
  }
}
