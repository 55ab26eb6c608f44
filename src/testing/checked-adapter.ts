import assert from 'node:assert/strict';
import type { Plant } from '../core/model/plant.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../core/storage-adapter.ts';
import { CallError, commitText, expectEqual, listText, shown } from './expect.ts';

/** Performs a call within the time limit, and names it in the error if it fails. */
export type Call = <T>(text: string, start: () => Promise<T>) => Promise<T>;

/** Twice the size in the contract, because an adapter may estimate the size of a page. */
const maxPageCodeUnits = 524_288;

/** All pages and plants that adapters have returned. */
const returned = new WeakSet<object>();

/** Calls an adapter, and checks the rules that hold for every call. */
export class CheckedAdapter {
  readonly #adapter: StorageAdapter;
  readonly #call: Call;
  readonly #versions = new Set<number>();

  constructor(adapter: StorageAdapter, call: Call) {
    this.#adapter = adapter;
    this.#call = call;
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    const given = writes.map((each) => (each.kind === 'create' ? { ...each, plant: { ...each.plant } } : { ...each }));
    const call = commitText(writes);
    const outcomes = await this.#call(call, () => this.#adapter.commit(given));
    expectEqual(given, writes, `${call} must not change its argument.`);
    // An adapter that keeps the objects it was given now returns the wrong name.
    for (const write of given) if (write.kind === 'create') write.plant.name = 'changed after the commit';
    const isValid = Array.isArray(outcomes) && outcomes.every((outcome) => typeof outcome === 'boolean');
    if (isValid && outcomes.length === writes.length) return outcomes;
    assert.fail(`${call} must return one boolean for each write, not ${shown(outcomes)}.`);
  }

  async list(user: string, range: ListRange): Promise<PlantPage> {
    const call = listText(user, range);
    const page = await this.#call(call, () => this.#adapter.list(user, Object.freeze(range)));
    checkPage(call, (page as Partial<PlantPage> | undefined)?.plants);
    return page;
  }

  /** Fails if a plant is returned twice, or after 1000 empty pages, so a test ends even if the scan would not. */
  async *scan(): AsyncGenerator<OwnedPlant[], void, undefined> {
    const pages = this.#adapter.scan()[Symbol.asyncIterator]();
    const keys = new Set<string>();
    for (let count = 1; ; count++) {
      const call = `page ${count} of scan()`;
      const result = await this.#call(call, () => pages.next());
      if (result.done === true) return;
      const plants = result.value.map(({ plant }) => plant);
      checkPage(call, plants);
      for (const { user, plant } of result.value) {
        const key = `${user} ${plant.id}`;
        assert.ok(!keys.has(key), `${call} returned plant ${plant.id} of ${shown(user)} again.`);
        keys.add(key);
      }
      assert.ok(count <= keys.size + 1000, 'scan() returned 1000 empty pages.');
      let hasEnded = true;
      try {
        yield result.value;
        hasEnded = false;
      } finally {
        if (hasEnded) await this.#call('the end of scan()', async () => pages.return?.());
      }
    }
  }

  /** Returns `undefined` if the adapter has no `dataVersion`. */
  version(): number | undefined {
    if (this.#adapter.dataVersion === undefined) return undefined;
    try {
      const version = this.#adapter.dataVersion();
      assert.ok(Number.isFinite(version), `It must be a finite number, not ${shown(version)}.`);
      return version;
    } catch (error) {
      throw new CallError(`dataVersion() failed: ${String(error)}`, error);
    }
  }

  /** Must be called after every commit. `isNew` tells whether another adapter has changed plants. */
  checkVersion(isNew: boolean): void {
    const version = this.version();
    if (version === undefined) return;
    const rule = 'A commit of another adapter must change the version to one that has never occurred.';
    assert.ok(!isNew || !this.#versions.has(version), `${rule} dataVersion() returned ${version} again.`);
    this.#versions.add(version);
  }

  close(): Promise<void> {
    return this.#call('close()', () => this.#adapter.close());
  }
}

function checkPage(call: string, plants: Plant[] | undefined): void {
  assert.ok(Array.isArray(plants), `${call} must return an array of plants.`);
  let codeUnits = 0;
  // A plant with a wrong type is found later, by comparing it.
  for (const { name, tag } of plants) codeUnits += `${name}${tag ?? ''}`.length;
  const size = `${plants.length} plants, whose names and tags have ${codeUnits} characters`;
  const isShort = plants.length <= 1000 && codeUnits <= maxPageCodeUnits;
  assert.ok(isShort || plants.length === 1, `${call} returned ${size}. End a page at 1000 plants or 256 KiB.`);
  for (const object of [plants, ...plants]) {
    const rule = 'Return new objects, because callers may change them.';
    assert.ok(!returned.has(object), `${call} returned an object that it had returned before. ${rule}`);
    returned.add(object);
  }
}
