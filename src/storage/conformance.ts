/// <reference types="node" preserve="true" />
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { maxInt64 } from '../int64.ts';
import { PlantStore } from '../plant-store.ts';
import { all, create, ids, range, remove, testCommit, testFidelity, testList } from './conformance-cases.ts';
import type { Open } from './conformance-cases.ts';
import { testDataVersion, testListJson } from './conformance-optional.ts';
import { testScan } from './conformance-scan.ts';
import type { StorageAdapter } from './storage-adapter.ts';

/** Where one test keeps its plants: a folder, a schema, nothing at all. */
export interface StoragePlace {
  /** Opens an adapter on this place. The suite closes what it opened. */
  open(): StorageAdapter | Promise<StorageAdapter>;
}

/** Opens an adapter on a place, or on a new one; it is closed after the test. */
export type OpenPlace = (t: TestContext, place?: StoragePlace) => Promise<StorageAdapter>;

/** What the suite has to know of an adapter. */
export interface StorageAdapterTestOptions {
  /** Makes an empty place for one test; clean up with `t.after`. */
  makePlace: (t: TestContext) => StoragePlace | Promise<StoragePlace>;
  /**
   * `true` where all adapters that are opened on one place hold the same plants, at once and one
   * after the other; `false` where each begins empty. The suite holds the adapter to its word.
   */
  isShared: boolean;
}

/**
 * Proves a storage adapter: registers, under node:test, a test for everything that the contract of
 * `StorageAdapter` says. Call it at the top level of a test file.
 */
export function testStorageAdapter(name: string, { makePlace, isShared }: StorageAdapterTestOptions): void {
  const open: OpenPlace = async (t, place) => {
    const adapter = await (place ?? (await makePlace(t))).open();
    t.after(() => adapter.close());
    return adapter;
  };
  describe(`${name} as a StorageAdapter`, () => {
    describe('commit', () => { testCommit(open); });
    describe('list', () => { testList(open); });
    describe('scan', () => { testScan(open); });
    describe('what it keeps', () => { testFidelity(open); });
    describe('under a PlantStore', () => { testUnderPlantStore(open); });
    describe('listJson, if there is one', () => { testListJson(open); });
    describe('dataVersion, if there is one', () => { testDataVersion(open, makePlace, isShared); });
    describe('close', () => { testClose(open); });
    describe('a second adapter on the same place', () => { testSecondAdapter(open, makePlace, isShared); });
  });
}

function testUnderPlantStore(open: Open): void {
  it('lets exactly one of many concurrent creates of an id win', async (t) => {
    const store = new PlantStore({ storage: await open(t) });
    const attempts = range(40).flatMap((id) => range(10).map((n) => store.createPlant('ada', { id, name: `${n}` })));
    const settled = await Promise.allSettled(attempts);
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 40);
    for (const outcome of settled) {
      if (outcome.status === 'rejected') assert.equal((outcome.reason as { code?: string }).code, 'id_taken');
    }
    assert.deepEqual(ids(await store.listPlants('ada')), range(40).map(BigInt));
    const deletes = await Promise.all(range(40).flatMap((id) => [store.deletePlant('ada', id), store.deletePlant('ada', id)]));
    assert.equal(deletes.filter(Boolean).length, 40);
  });
}

function testClose(open: Open): void {
  it('refuses everything afterwards with the code closed, and may be called twice', async (t) => {
    const storage = await open(t);
    await storage.commit([create('ada', 1n)]);
    await storage.close();
    await assert.rejects(storage.commit([create('ada', 2n)]), { name: 'PlantStoreError', code: 'closed' });
    await assert.rejects(storage.list('ada', { after: undefined, limit: 1 }), { name: 'PlantStoreError', code: 'closed' });
    await storage.close();
  });

  it('can be called while work is under way: a commit is then done or rejected', async (t) => {
    const storage = await open(t);
    const [committed, listed, closed] = await Promise.allSettled([
      storage.commit([create('ada', 1n)]),
      storage.list('ada', { after: undefined, limit: 1 }),
      storage.close(),
    ]);
    if (committed.status === 'fulfilled') assert.deepEqual(committed.value, [true]);
    if (listed.status === 'fulfilled') assert.ok(listed.value.length <= 1);
    assert.equal(closed.status, 'fulfilled');
  });
}

function testSecondAdapter(
  open: OpenPlace,
  makePlace: StorageAdapterTestOptions['makePlace'],
  isShared: boolean,
): void {
  it(isShared ? 'finds the plants of one that was closed' : 'begins empty after one was closed', async (t) => {
    const place = await makePlace(t);
    const first = await open(t, place);
    await first.commit([create('ada', maxInt64, 'Fern', ''), create('ada', 2n), create('bob', 2n)]);
    await first.commit([remove('ada', 2n)]);
    await first.close();
    const second = await open(t, place);
    assert.deepEqual(await all(second, 'ada'), isShared ? [{ id: maxInt64, name: 'Fern', tag: '' }] : []);
    assert.deepEqual(ids(await all(second, 'bob')), isShared ? [2n] : []);
  });

  it(isShared ? 'sees at once what the first commits' : 'sees nothing of what the first commits', async (t) => {
    const place = await makePlace(t);
    const [first, second] = [await open(t, place), await open(t, place)];
    await first.commit([create('ada', 1n)]);
    assert.deepEqual(ids(await all(second, 'ada')), isShared ? [1n] : []);
    assert.deepEqual(await second.commit([create('ada', 1n)]), [!isShared]);
    assert.deepEqual(await second.commit([remove('ada', 1n)]), [true]);
    assert.deepEqual(ids(await all(first, 'ada')), isShared ? [] : [1n]);
  });

  it(isShared ? 'lets one of two concurrent creates of an id win' : 'has ids of its own', async (t) => {
    const place = await makePlace(t);
    const [first, second] = [await open(t, place), await open(t, place)];
    for (const n of range(50)) {
      const batch = [create('ada', BigInt(n)), create(`user ${n}`, 1n)];
      const outcomes = await Promise.all([first.commit(batch), second.commit(batch)]);
      const wins = outcomes.flat().filter(Boolean).length;
      assert.equal(wins, isShared ? 2 : 4);
    }
    assert.equal((await all(first, 'ada')).length, 50);
    assert.equal((await all(second, 'ada')).length, 50);
  });
}
