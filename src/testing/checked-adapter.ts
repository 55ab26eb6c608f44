import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Plant } from '../core/model/plant.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../core/storage-adapter.ts';
import { CallError, commitText, listText, shown } from './expect.ts';

/** Performs a call, and names it in the error if it fails. */
interface Caller {
  call<T>(text: string, start: () => Promise<T>): Promise<T>;
}

/** Twice the size in the contract, because an adapter may estimate the size of a page. */
const maxPageCodeUnits = 524_288;

/** All pages and plants that adapters have returned. */
const returned = new WeakSet<object>();

/** Calls an adapter with frozen arguments, and checks the rules that hold for every call. */
export class CheckedAdapter {
  readonly adapter: StorageAdapter;
  readonly #place: Caller;
  readonly #versions = new Set<number>();

  constructor(adapter: StorageAdapter, place: Caller) {
    this.adapter = adapter;
    this.#place = place;
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    for (const write of writes) Object.freeze(write.kind === 'create' ? write.plant : write);
    writes.forEach(Object.freeze);
    const call = commitText(writes);
    const outcomes = await this.#place.call(call, () => this.adapter.commit(Object.freeze(writes)));
    const isValid = Array.isArray(outcomes) && outcomes.every((outcome) => typeof outcome === 'boolean');
    if (isValid && outcomes.length === writes.length) return outcomes;
    assert.fail(`${call} must return one boolean for each write, not ${shown(outcomes)}.`);
  }

  async list(user: string, range: ListRange): Promise<PlantPage> {
    const call = listText(user, range);
    const page = await this.#place.call(call, () => this.adapter.list(user, Object.freeze(range)));
    checkPage(call, (page as Partial<PlantPage> | undefined)?.plants);
    return page;
  }

  /** Fails at the first plant that is returned twice, so a test ends even if the adapter repeats its pages forever. */
  async *scan(): AsyncGenerator<OwnedPlant[], void, undefined> {
    const pages = this.adapter.scan()[Symbol.asyncIterator]();
    const keys = new Set<string>();
    for (let count = 1; ; count++) {
      const call = `page ${count} of scan()`;
      const result = await this.#place.call(call, () => pages.next());
      if (result.done === true) return;
      const page = result.value;
      let isPaused = true;
      try {
        checkPage(
          call,
          page.map(({ plant }) => plant),
        );
        for (const { user, plant } of page) {
          const key = `${user} ${plant.id}`;
          assert.ok(!keys.has(key), `${call} returned plant ${plant.id} of ${shown(user)} again.`);
          keys.add(key);
        }
        yield page;
        // Lets the time limit of the test fire, even if the adapter returns empty pages forever.
        await setImmediate();
        isPaused = false;
      } finally {
        if (isPaused) await this.#place.call('the end of scan()', async () => pages.return?.());
      }
    }
  }

  /** Returns `undefined` if the adapter has no `dataVersion`. */
  version(): number | undefined {
    let version: unknown;
    try {
      version = this.adapter.dataVersion?.();
    } catch (error) {
      throw new CallError(`dataVersion() threw an error: ${String(error)}`, error);
    }
    if (this.adapter.dataVersion === undefined) return undefined;
    assert.ok(Number.isFinite(version), `dataVersion() must return a finite number, not ${shown(version)}.`);
    return version as number;
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
    return this.#place.call('close()', () => this.adapter.close());
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
