import { setTimeout } from 'node:timers';
import type { PlantId } from '../model/plant.ts';
import { ContractError, expect, fail, shown, visible } from './expect.ts';
import { CreatedPlants } from './written-plants.ts';
import type { AttemptedWrites } from './written-plants.ts';
import { compareUsers } from '../storage/key-order.ts';
import type {
  JsonPage,
  ListRange,
  OwnedPlant,
  PlantKey,
  ScanRange,
  StorageAdapter,
} from '../storage/storage-adapter.ts';

/** The timeout for a method that has already timed out, in milliseconds. */
const shortTimeoutMs = 100;

/** Calls an adapter's methods with a timeout. */
export class CallTimeouts {
  readonly #timeoutMs: number;
  readonly #hung = new Set<string>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Calls a function and waits for its promise. Throws a ContractError after a timeout. If a function with the same
   * name has already timed out, the timeout is much shorter, so that the suite does not take too long.
   */
  async settle<T>(name: string, call: () => T | Promise<T>): Promise<T> {
    const hasHung = this.#hung.has(name);
    const timeoutMs = hasHung ? Math.min(shortTimeoutMs, this.#timeoutMs) : this.#timeoutMs;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        this.#hung.add(name);
        const again = hasHung ? `, after it had not settled within ${seconds(this.#timeoutMs)} in an earlier test` : '';
        reject(new ContractError(`${name} did not settle within ${seconds(timeoutMs)}${again}.`));
      }, timeoutMs);
    });
    try {
      return await Promise.race([call(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Returns an adapter that passes every call to `storage` and checks the result against the rules that apply to all
 * calls. `attempted` contains the writes of all adapters of the test.
 */
export function watched(storage: StorageAdapter, timeouts: CallTimeouts, attempted: AttemptedWrites): StorageAdapter {
  const created = new CreatedPlants(attempted);
  const called = async <T>(name: string, call: () => Promise<T>): Promise<T> =>
    timeouts.settle(name, () => promiseOf(name, call));
  return {
    commit: async (writes) => {
      attempted.add(writes);
      const outcomes = await called('commit', () => storage.commit(writes));
      checkOutcomes(outcomes, writes.length);
      created.add(writes, outcomes);
      return outcomes;
    },
    list: async (user, range) => {
      const checkMissing = created.expectIn(user, range);
      const plants = await called('list', () => storage.list(user, range));
      const call = `list(${rangeText(range.after, range.limit)})`;
      checkLength(call, plants, range.limit);
      for (const plant of plants) checkPlant(call, plant);
      attempted.checkUser(call, user, plants);
      checkIds(
        call,
        plants.map(({ id }) => id),
        range.after,
      );
      checkMissing(call, plants);
      return plants;
    },
    scan: async (range) => {
      const found = await called('scan', () => storage.scan(range));
      const call = `scan(${keyText(range.after)}, limit: ${range.limit})`;
      checkLength(call, found, range.limit);
      for (const owned of found) checkOwnedPlant(call, owned);
      checkKeys(
        call,
        found.map(({ user, plant }) => ({ user, id: plant.id })),
        range,
      );
      return found;
    },
    ...(storage.listJson !== undefined && {
      listJson: async (user: string, range: ListRange) => {
        const page = await called('listJson', async () => storage.listJson?.(user, range));
        return checkJsonPage(`listJson(${rangeText(range.after, range.limit)})`, page, range);
      },
    }),
    ...(storage.dataVersion !== undefined && { dataVersion: () => storage.dataVersion?.() ?? NaN }),
    close: () => called('close', () => storage.close()),
  };
}

/** Calls a method and checks that it returns a promise. The method must not throw or return any other value. */
function promiseOf<T>(name: string, call: () => Promise<T>): Promise<T> {
  let returned: unknown;
  try {
    returned = call();
  } catch (error) {
    fail(`${name} threw ${shown(error)}. It must return a promise that rejects.`, error);
  }
  const isPromise = typeof (returned as Partial<Promise<T>> | null | undefined)?.then === 'function';
  expect(isPromise, `${name} returned ${shown(returned)}. It must return a promise.`);
  return returned as Promise<T>;
}

function checkOutcomes(outcomes: unknown, count: number): void {
  const isRight =
    Array.isArray(outcomes) && outcomes.length === count && outcomes.every((outcome) => typeof outcome === 'boolean');
  expect(
    isRight,
    `commit of ${count} writes resolved with ${shown(outcomes)}. It must resolve with ${count} booleans.`,
  );
}

function checkLength(call: string, page: unknown, limit: number): void {
  expect(Array.isArray(page), `${call} resolved with ${shown(page)}. It must resolve with an array.`);
  expect(page.length <= limit, `${call} returned ${page.length} plants, which is more than its limit.`);
}

/** Checks the types of a plant that `list` or `scan` returned. */
function checkPlant(call: string, plant: unknown): void {
  expect(
    typeof plant === 'object' && plant !== null,
    `${call} returned ${shown(plant)} as a plant. A plant must be an object with the properties id, name and tag.`,
  );
  const { id, name, tag }: { id?: unknown; name?: unknown; tag?: unknown } = plant;
  expect(typeof id === 'bigint', `${call} returned a plant with the id ${shown(id)}. An id must be a bigint.`);
  expect(typeof name === 'string', `${call} returned plant ${id} with the name ${shown(name)}. It must be a string.`);
  expect(
    !('tag' in plant) || typeof tag === 'string',
    `${call} returned plant ${id} with the tag ${shown(tag)}. ` +
      'A tag must be a string. A plant without a tag must not have the property tag.',
  );
}

function checkOwnedPlant(call: string, owned: Partial<OwnedPlant> | null | undefined): void {
  expect(
    typeof owned?.user === 'string',
    `${call} returned ${shown(owned)}. It must return objects with the properties user and plant.`,
  );
  checkPlant(call, owned.plant);
}

/**
 * Checks that the ids of a page are in ascending order and greater than `after`. Otherwise a loop over the pages could
 * repeat a page forever.
 */
function checkIds(call: string, ids: readonly PlantId[], after: PlantId | undefined): void {
  let last = after;
  for (const [index, id] of ids.entries()) {
    if (last === undefined || id > last) last = id;
    else if (id === last) {
      fail(`${call} returned ${id} again. The id of every plant must be greater than the id of the plant before it.`);
    } else if (index === 0) {
      fail(`${call} returned ${id}, which is not greater than after. It must return only ids greater than after.`);
    } else fail(`${call} returned ${id} after ${last}. Ids must be in ascending numerical order.`);
  }
}

function checkKeys(call: string, keys: readonly PlantKey[], { after }: ScanRange): void {
  let last = after;
  for (const key of keys) {
    const order = last === undefined ? 1 : compareUsers(key.user, last.user) || compareIds(key.id, last.id);
    const [seen, before] = [keyText(key), keyText(last)];
    expect(
      order !== 0,
      `${call} returned (${seen}) again. The key of every plant must be greater than the key of the plant before it.`,
    );
    expect(
      order > 0,
      `${call} returned (${seen}) after (${before}). ` +
        'Plants must be sorted by the UTF-8 bytes of the user, and then by id as a number.',
    );
    last = key;
  }
}

function checkJsonPage(call: string, page: Partial<JsonPage> | undefined, { after, limit }: ListRange): JsonPage {
  const { json, count, last, hasMore } = page ?? {};
  const isPage = typeof json === 'string' && typeof count === 'number' && typeof hasMore === 'boolean';
  expect(isPage, `${call} resolved with ${shown(page)}. It must resolve with { json, count, last, hasMore }.`);
  expect(count <= limit, `${call} returned ${count} plants, which is more than its limit.`);
  expect(
    count > 0 || !hasMore,
    `${call} returned no plant, but hasMore is true. A page with hasMore must contain at least one plant.`,
  );
  if (count > 0) {
    expect(
      typeof last === 'bigint',
      `${call} returned ${count} plants with the last id ${shown(last)}. It must be a bigint.`,
    );
    checkIds(call, [last], after);
  }
  return { json, count, last, hasMore };
}

function compareIds(a: PlantId, b: PlantId): number {
  return a < b ? -1 : Number(a > b);
}

function rangeText(after: PlantId | undefined, limit: number): string {
  return `after: ${after ?? 'undefined'}, limit: ${limit}`;
}

function keyText(key: PlantKey | undefined): string {
  return key === undefined ? 'after: undefined' : `user: ${visible(key.user)}, id: ${key.id}`;
}

function seconds(milliseconds: number): string {
  return milliseconds === 1000 ? '1 second' : `${milliseconds / 1000} seconds`;
}
