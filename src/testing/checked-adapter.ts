import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import { isPlantStoreError } from '../core/model/errors.ts';
import type { Plant } from '../core/model/plant.ts';
import { idOf } from '../core/storage-adapter.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../core/storage-adapter.ts';
import { ReferenceStore } from './plants.ts';

/** Performs a call of an adapter, or of a function of the options. `text` names the call in errors. */
export type Call = <T>(text: string, start: () => Promise<T>) => Promise<T>;

/** Thrown if a call returns a promise that rejects. Its cause is what the promise rejects with. */
export class Rejection extends Error {}

/** All pages and plants that adapters have returned. */
const returned = new WeakSet<object>();

/** Calls an adapter, and checks the rules that hold for every call. */
export class CheckedAdapter {
  readonly #adapter: StorageAdapter;
  readonly #call: Call;

  constructor(adapter: StorageAdapter, call: Call) {
    this.#adapter = adapter;
    this.#call = call;
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    const given = structuredClone(writes) as Write[];
    const call = commitText(writes);
    const outcomes = await this.#call(call, () => this.#adapter.commit(given));
    expectEqual(given, writes, `${call} must not change its argument.`);
    // An adapter that keeps the objects it was given now returns the wrong name.
    for (const write of given) if (write.kind === 'create') Object.assign(write.plant, { name: 'changed later' });
    const isValid = Array.isArray(outcomes) && outcomes.every((outcome) => typeof outcome === 'boolean');
    if (isValid && outcomes.length === writes.length) return outcomes;
    assert.fail(`${call} must return one boolean for each write, not ${shown(outcomes)}.`);
  }

  /** Commits a batch, and checks that it changes the storage in the same way as the model. */
  async commitLike(model: ReferenceStore, batch: readonly Write[]): Promise<void> {
    const expected = batch.map((write) => model.apply(write));
    expectEqual(await this.commit(batch), expected, 'commit must return whether each write changed the storage.');
  }

  async list(user: string, range: ListRange): Promise<PlantPage> {
    const call = `list(${shown(user)}, ${shown(range)})`;
    const page = await this.#call(call, () => this.#adapter.list(user, Object.freeze(range)));
    checkPage(call, (page as Partial<PlantPage> | undefined)?.plants);
    return page;
  }

  /** Fails if a plant is returned twice or if many pages are empty, so a test ends even if the scan would not. */
  async *scan(): AsyncGenerator<OwnedPlant[], void, undefined> {
    const pages = this.#adapter.scan()[Symbol.asyncIterator]();
    const keys = new Set<string>();
    let count = 0;
    const iterator: AsyncIterator<OwnedPlant[]> = {
      next: () => this.#call(`page ${++count} of scan()`, () => pages.next()),
      return: () => this.#call('the end of scan()', async () => (await pages.return?.()) ?? { done: true, value: [] }),
    };
    for await (const page of { [Symbol.asyncIterator]: () => iterator }) {
      const call = `page ${count} of scan()`;
      const plants = (page as OwnedPlant[] | undefined)?.map(({ plant }) => plant);
      checkPage(call, plants);
      for (const { user, plant } of page) {
        const key = `${user} ${plant.id}`;
        assert.ok(!keys.has(key), `${call} returned plant ${plant.id} of ${shown(user)} again.`);
        keys.add(key);
      }
      assert.ok(count <= keys.size + 1000, 'scan() returned 1000 more pages than plants.');
      yield page;
    }
  }

  /** Returns `undefined` if the adapter has no `dataVersion`. */
  version(): number | undefined {
    if (this.#adapter.dataVersion === undefined) return undefined;
    let version;
    try {
      version = this.#adapter.dataVersion();
    } catch (cause) {
      throw new Error(`dataVersion() failed: ${String(cause)}`, { cause });
    }
    assert.ok(Number.isFinite(version), `dataVersion() must return a finite number, not ${shown(version)}.`);
    return version;
  }

  close(): Promise<void> {
    // The result is not used, so an adapter in JavaScript need not return a promise.
    return this.#call('close()', async () => this.#adapter.close());
  }
}

function checkPage(call: string, plants: Plant[] | undefined): void {
  assert.ok(Array.isArray(plants), `${call} must return an array of plants.`);
  let codeUnits = 0;
  // A name or tag of a wrong type is found later, when the plants are compared.
  for (const { name, tag } of plants) codeUnits += `${name}${tag ?? ''}`.length;
  const size = `${plants.length} plants, whose names and tags have ${codeUnits} characters`;
  // Twice the size in the contract, because an adapter may estimate the size of a page.
  const isShort = plants.length <= 1000 && codeUnits <= 524_288;
  assert.ok(isShort || plants.length === 1, `${call} returned ${size}. End a page at 1000 plants or 256 KiB.`);
  for (const object of [plants, ...plants]) {
    const rule = 'Return new objects, because callers may change them.';
    assert.ok(!returned.has(object), `${call} returned an object that it had returned before. ${rule}`);
    assert.ok(!Object.isFrozen(object), `${call} returned a frozen object. ${rule}`);
    returned.add(object);
  }
}

const visible = 'When a commit has resolved, every later call must return its plants, unchanged and in order of id.';

/** Checks that `list`, with this page limit, and `scan` return exactly these plants. If not, `rule` is violated. */
export async function expectStored(
  storage: CheckedAdapter,
  plants: ReferenceStore | readonly OwnedPlant[],
  rule: string = visible,
  limit = 1000,
): Promise<void> {
  const stored = plants instanceof ReferenceStore ? plants : new ReferenceStore(plants);
  for (const user of [...stored.users, 'nobody']) {
    let page: PlantPage | undefined;
    do {
      page = await expectList(storage, user, { after: page?.plants.at(-1)?.id, limit }, stored, rule);
    } while (page.hasMore);
  }
  const scanned = new ReferenceStore(await scanAll(storage));
  expectEqual(scanned.scan(), stored.scan(), `${rule} scan() returned other plants.`);
}

/** Checks a page of `list`. `stored` contains all plants. */
export async function expectList(
  storage: CheckedAdapter,
  user: string,
  range: ListRange,
  stored: ReferenceStore,
  rule: string = visible,
): Promise<PlantPage> {
  const page = await storage.list(user, range);
  const due = stored.list(user, range.after);
  // An adapter may return fewer plants than the limit, but at least one.
  const length = Math.min(Math.max(1, page.plants.length), range.limit);
  const call = `list(${shown(user)}, ${shown(range)})`;
  expectEqual(page.plants, due.slice(0, length), `${rule} ${call} returned other plants.`);
  expectEqual(page.hasMore, due.length > length, `hasMore must tell whether plants follow the page of ${call}.`);
  return page;
}

export async function scanAll(storage: { scan(): AsyncIterable<OwnedPlant[]> }): Promise<OwnedPlant[]> {
  const found: OwnedPlant[] = [];
  for await (const page of storage.scan()) found.push(...page);
  return found;
}

/** Checks that a call of an adapter rejects. If a code is given, it must be the code of the PlantStoreError. */
export async function expectRejection(call: Promise<unknown>, rule: string, code?: string): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const { cause } = error;
    if (code === undefined || (isPlantStoreError(cause) && cause.code === code)) return;
    throw new Error(`${rule} ${error.message}`, { cause: error });
  }
  assert.fail(rule);
}

/** Asserts that the values are deep-equal. If they are large, the message is shorter than that of node:assert. */
export function expectEqual(actual: unknown, expected: unknown, rule: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  let [seen, due, where]: [unknown, unknown, string] = [actual, expected, ''];
  if (Array.isArray(actual) && Array.isArray(expected)) {
    const length = Math.max(actual.length, expected.length);
    const at = Array.from({ length }).findIndex((_, index) => !isDeepStrictEqual(actual[index], expected[index]));
    [seen, due] = [actual[at] as unknown, expected[at] as unknown];
    where = ` at index ${at}`;
    if (actual.length !== expected.length) where += ` (${actual.length} items instead of ${expected.length})`;
  }
  assert.fail(`${rule}\nExpected ${shown(due)} but received ${shown(seen)}${where}.`);
}

/** Formats a value as one line of ASCII, in which long strings and arrays are shortened. */
export function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w -]{0,30}$/.test(value)) return `'${value}'`;
  const text = inspect(value, { breakLength: Infinity, compact: true, maxArrayLength: 8, maxStringLength: 30 });
  return text.replaceAll(/[^\x20-\x7e]/gu, (found) => `\\u{${found.codePointAt(0)?.toString(16) ?? ''}}`);
}

export function commitText(writes: readonly Write[]): string {
  const texts = writes.slice(0, 9).map((write) => `${write.kind} ${shown(write.user)} ${idOf(write)}`);
  if (writes.length > texts.length) texts.push(`${writes.length - texts.length} more`);
  return `commit([${texts.join(', ')}])`;
}
