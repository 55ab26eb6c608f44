import { setTimeout } from 'node:timers';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../core/storage-adapter.ts';
import { ContractError, expect, shown } from './expect.ts';
import { idOf } from './plants.ts';

/** The timeout of a method after its first timeout. */
const shortTimeoutMs = 100;

/** Waits for calls of an adapter, and gives up after a timeout. */
export class Watchdog {
  readonly #timeoutMs: number;
  readonly #hung = new Set<string>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Waits for a call. After the first timeout of a method, its calls get little time, so that the run ends soon. */
  async settle<T>(method: string, call: () => T | Promise<T>, text: string = method): Promise<T> {
    const timeoutMs = Math.min(this.#hung.has(method) ? shortTimeoutMs : Infinity, this.#timeoutMs);
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      this.#hung.add(method);
      reject(new ContractError(`${text} must settle. It did not settle within ${timeoutMs / 1000} s.`));
    }, timeoutMs);
    try {
      return await Promise.race([call(), promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Thrown if a method of the adapter rejects. The cause is the error of the adapter. */
export class Rejection extends ContractError {}

/** Calls the methods of an adapter. The errors contain the call. */
export class TestedAdapter {
  readonly #storage: StorageAdapter;
  readonly #watchdog: Watchdog;

  constructor(storage: StorageAdapter, watchdog: Watchdog) {
    this.#storage = storage;
    this.#watchdog = watchdog;
  }

  commit(writes: readonly Write[]): Promise<boolean[]> {
    return this.#call('commit', commitText(writes), () => this.#storage.commit(writes));
  }

  async list(user: string, range: ListRange): Promise<PlantPage> {
    const text = listText(user, range);
    const listed = await this.#call('list', text, () => this.#storage.list(user, range));
    const page = listed as Partial<PlantPage> | undefined;
    const isPage = Array.isArray(page?.plants) && typeof page.hasMore === 'boolean';
    expect(isPage, `${text} must resolve with { plants, hasMore }. It resolved with ${shown(page)}.`);
    return page as PlantPage;
  }

  async scan(): Promise<OwnedPlant[]> {
    const found: OwnedPlant[] = [];
    const pages = this.#storage.scan()[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.#call('scan', 'next() of scan()', () => pages.next());
      if (next.done === true) return found;
      found.push(...next.value);
    }
  }

  dataVersion(): number | undefined {
    const version = this.#storage.dataVersion?.();
    const isRight = version === undefined || Number.isFinite(version);
    expect(isRight, `dataVersion() must return a finite number. It returned ${shown(version)}.`);
    return version;
  }

  close(): Promise<void> {
    return this.#call('close', 'close()', () => this.#storage.close());
  }

  async #call<T>(method: string, text: string, start: () => Promise<T>): Promise<T> {
    const attempt = (): Promise<T> =>
      start().catch((error: unknown) => {
        const rule = `${text} must not reject unless the storage fails or the adapter is closed.`;
        throw new Rejection(`${rule} It rejected with ${shown(error)}.`, { cause: error });
      });
    try {
      return await this.#watchdog.settle(method, attempt, text);
    } catch (error) {
      if (error instanceof ContractError) throw error;
      throw new ContractError(`${text} must return a promise. It threw ${shown(error)}.`, { cause: error });
    }
  }
}

export function commitText(writes: readonly Write[]): string {
  if (writes.length > 8) return `commit of ${writes.length} writes`;
  return `commit([${writes.map((each) => `${each.kind} ${shown(each.user)} ${idOf(each)}`).join(', ')}])`;
}

export function listText(user: string, { after, limit }: ListRange): string {
  return `list(${shown(user)}, { after: ${after ?? 'undefined'}, limit: ${limit} })`;
}
