import { MemoryStorage } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import type { JsonPage, PageRequest } from '../../src/core/page.ts';
import { toJsonPage } from '../../src/core/page.ts';
import { PageCache } from '../../src/core/page-cache.ts';
import { ReadQueue } from '../../src/core/read-queue.ts';
import { create } from './writes.ts';

/** A MemoryStorage with `listPages` that records its batches. */
export class BatchStorage extends MemoryStorage {
  readonly batches: PageRequest[][] = [];
  running = 0;
  /** Called after a batch has been read, before its pages are returned. */
  afterRead: (requests: readonly PageRequest[]) => Promise<void> = async () => undefined;

  async listPages(requests: readonly PageRequest[]): Promise<JsonPage[]> {
    this.batches.push([...requests]);
    this.running++;
    try {
      const pages = requests.map(async ({ user, ...range }) => toJsonPage(await this.list(user, range)));
      const read = await Promise.all(pages);
      await this.afterRead(requests);
      return read;
    } finally {
      this.running--;
    }
  }
}

/**
 * Opens a storage that contains plants. `plants` maps each user to the number of the user's plants. The ids start at 0,
 * and each name equals the id.
 */
export async function openBatchStorage(plants: Readonly<Record<string, number>>): Promise<BatchStorage> {
  const storage = new BatchStorage();
  for (const [user, count] of Object.entries(plants)) {
    await storage.commit(Array.from({ length: count }, (_, id) => create(id, user, `${id}`)));
  }
  return storage;
}

/** Opens a storage like {@link openBatchStorage}, and creates a queue for it without a cache. */
export async function openQueue(
  plants: Readonly<Record<string, number>>,
): Promise<{ storage: BatchStorage; queue: ReadQueue }> {
  const storage = await openBatchStorage(plants);
  return { storage, queue: new ReadQueue(storage, undefined) };
}

export function request(user: string, limit: number, after?: bigint): PageRequest {
  return { user, after, limit };
}

export function namesIn({ json }: JsonPage): string[] {
  return (JSON.parse(json) as { name: string }[]).map(({ name }) => name);
}

/** A queue with a cache. The test can replace the function that reads the version. */
interface CachedQueue {
  readonly queue: ReadQueue;
  readonly cache: PageCache;
  readonly version: { read: () => number };
}

export function withCache(storage: StorageAdapter): CachedQueue {
  const version = { read: () => 0 };
  const cache = new PageCache({ maxText: 100_000, dataVersion: () => version.read() });
  return { queue: new ReadQueue(storage, cache), cache, version };
}

/** Opens a storage like {@link openBatchStorage}, and creates a queue with a cache for it. */
export async function openWithCache(
  plants: Readonly<Record<string, number>>,
): Promise<CachedQueue & { storage: BatchStorage }> {
  const storage = await openBatchStorage(plants);
  return { storage, ...withCache(storage) };
}

/**
 * Makes each batch of a storage wait, after it has been read, until the test releases it. The returned function
 * releases the batch that has waited longest.
 */
export function hold(storage: BatchStorage): () => void {
  const waiting: (() => void)[] = [];
  storage.afterRead = () => new Promise((resolve) => waiting.push(resolve));
  return () => waiting.shift()?.();
}
