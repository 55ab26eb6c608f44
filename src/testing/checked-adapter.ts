import assert from 'node:assert/strict';
import type { Plant } from '../core/model/plant.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../core/storage-adapter.ts';
import type { Deadline } from './deadline.ts';
import { commitText, listText, shown } from './expect.ts';

/** Twice the size in the contract, because an adapter may estimate the size of a page. */
const maxPageCodeUnits = 524_288;
/** No test stores enough plants for this many pages. */
const maxScannedPages = 5000;

/** All pages and plants that adapters have returned. */
const returned = new WeakSet<object>();

/** Calls an adapter with frozen arguments and a deadline, and checks the rules that hold for every call. */
export class CheckedAdapter {
  readonly adapter: StorageAdapter;
  readonly #deadline: Deadline;
  readonly #versions = new Set<number>();

  constructor(adapter: StorageAdapter, deadline: Deadline) {
    this.adapter = adapter;
    this.#deadline = deadline;
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    for (const write of writes) Object.freeze(write.kind === 'create' ? write.plant : write);
    writes.forEach(Object.freeze);
    const call = commitText(writes);
    const outcomes = await this.#deadline.call(call, () => this.adapter.commit(Object.freeze(writes)));
    const isValid = Array.isArray(outcomes) && outcomes.every((outcome) => typeof outcome === 'boolean');
    if (isValid && outcomes.length === writes.length) return outcomes;
    assert.fail(`${call} must return one boolean for each write, not ${shown(outcomes)}.`);
  }

  async list(user: string, range: ListRange): Promise<PlantPage> {
    const call = listText(user, range);
    const page = await this.#deadline.call(call, () => this.adapter.list(user, Object.freeze(range)));
    checkPage(call, (page as Partial<PlantPage> | undefined)?.plants);
    return page;
  }

  /** Fails at the first plant that is returned twice, so a test ends even if the adapter repeats its pages forever. */
  async *scan(): AsyncGenerator<OwnedPlant[], void, undefined> {
    const pages = this.adapter.scan()[Symbol.asyncIterator]();
    const keys = new Set<string>();
    let isPaused = false;
    try {
      for (let count = 1; count < maxScannedPages; count++) {
        const call = `page ${count} of scan()`;
        isPaused = false;
        const result = await this.#deadline.call(call, () => pages.next());
        if (result.done === true) return;
        isPaused = true;
        const page = result.value;
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
      }
    } finally {
      // Like `for await`, this does not end an iterator that has failed or ended.
      if (isPaused) await this.#deadline.call('the end of scan()', () => pages.return?.());
    }
    assert.fail(`scan() did not end after ${maxScannedPages} pages.`);
  }

  /** Returns `undefined` if the adapter has no `dataVersion`. */
  version(): number | undefined {
    if (this.adapter.dataVersion === undefined) return undefined;
    const version: unknown = this.adapter.dataVersion();
    assert.ok(Number.isFinite(version), `dataVersion() must return a finite number, not ${shown(version)}.`);
    return version as number;
  }

  /** Must be called after every commit. `isNew` tells whether another adapter has changed plants. */
  checkVersion(isNew: boolean): void {
    const version = this.version();
    if (version === undefined) return;
    const rule = 'The version must change with each commit of another adapter, and must never recur.';
    assert.ok(!isNew || !this.#versions.has(version), `${rule} dataVersion() returned ${version} again.`);
    this.#versions.add(version);
  }

  close(): Promise<void> {
    return this.#deadline.call('close()', () => this.adapter.close());
  }
}

function checkPage(call: string, plants: Plant[] | undefined): void {
  assert.ok(Array.isArray(plants), `${call} must return an array of plants.`);
  let codeUnits = 0;
  for (const { name, tag } of plants) codeUnits += name.length + (tag?.length ?? 0);
  const size = `${plants.length} plants, whose names and tags have ${codeUnits} characters`;
  const isShort = plants.length <= 1000 && codeUnits <= maxPageCodeUnits;
  assert.ok(isShort || plants.length === 1, `${call} returned ${size}. End a page at 1000 plants or 256 KiB of JSON.`);
  for (const object of [plants, ...plants]) {
    const rule = 'Return new objects, because callers may change them.';
    assert.ok(!returned.has(object), `${call} returned an object that it had returned before. ${rule}`);
    returned.add(object);
  }
}
