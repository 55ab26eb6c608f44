import assert from 'node:assert/strict';
import type { OwnedPlant } from '../../core/storage-adapter.ts';
import { expectEqual, shown } from './expect.ts';
import type { StorageAdapterTestOptions } from './options.ts';
import { create, createAll, faulty, plantOf, range, remove } from './plants.ts';
import { test } from './session.ts';
import { expectStored } from './stored.ts';

export function testShared(options: StorageAdapterTestOptions): void {
  const { shared } = options;
  const rule = shared
    ? 'If shared is true, all adapters at a location must share their plants.'
    : 'If shared is false, every adapter must have its own plants and must be empty when it is opened.';

  test(options, `adapters at one location ${shared ? 'share' : 'do not share'} their plants`, async (session) => {
    const location = await session.createLocation();
    const [first, second] = [await session.open(location), await session.open(location)];
    const stored = range(50).map((n) => plantOf('ada', BigInt(n)));
    for (const owned of stored) {
      const outcomes = await Promise.all([first.commit(createAll([owned])), second.commit(createAll([owned]))]);
      const created = outcomes.flat().filter(Boolean).length;
      const due = shared ? 1 : 2;
      assert.equal(
        created,
        due,
        `${rule} Of two concurrent creates of one plant, ${due} must succeed, not ${created}.`,
      );
    }
    expectEqual(await second.commit([remove('ada', 0n)]), [true], rule);
    const kept = stored.slice(shared ? 1 : 0);
    for (const n of range(20)) {
      const [one, two] = [2 * n, 2 * n + 1].map((id) => plantOf('bob', BigInt(id))) as [OwnedPlant, OwnedPlant];
      await Promise.all([first.commit(createAll([one])), second.commit(createAll([two]))]);
      kept.push(...(shared ? [one, two] : [one]));
    }
    await expectStored(first, kept, { rule: `${rule} Concurrent commits of different plants must all take effect.` });
    if (shared) {
      const removals = kept.splice(0, 20).map(({ user, plant }) => [remove(user, plant.id)]);
      for (const removal of removals) {
        const outcomes = await Promise.all([first.commit(removal), second.commit(removal)]);
        const removed = outcomes.flat().filter(Boolean).length;
        assert.equal(removed, 1, `${rule} Of two concurrent deletes of one plant, 1 must succeed, not ${removed}.`);
      }
    }
    await first.close();
    await expectStored(await session.open(location), shared ? kept : [], { rule });
  });
}

const changes = [
  ...[[create('ada', 3n)], [remove('ada', 3n)], [remove('ada', 1n)], [create('ada', 1n)]],
  ...[
    [remove('ada', 2n), create('ada', 4n)],
    [remove('ada', 4n), create('ada', 2n)],
  ],
];

export function testVersions(options: StorageAdapterTestOptions): void {
  const canFail = options.makeWriteFail !== undefined;
  const failing = create('ada', 13n);
  test(options, 'dataVersion changes with each commit of another adapter, and never recurs', async (session, t) => {
    const location = await session.createLocation();
    const [storage, other] = [await session.open(location), await session.open(location)];
    if (storage.dataVersion === undefined) {
      t.skip('The adapter has no dataVersion.');
      return;
    }
    await storage.commit([create('ada', 1n), create('ada', 2n)]);
    await other.commit([]);
    await options.makeWriteFail?.(location, faulty(failing));
    const seen = new Set([storage.dataVersion()]);
    for (const n of range(options.shared ? 300 : 0)) {
      await other.commit(changes[n % changes.length] ?? []);
      const version = storage.dataVersion();
      assert.ok(Number.isFinite(version), `dataVersion() must return a finite number, not ${shown(version)}.`);
      const count = `${n + 1} commits of another adapter`;
      assert.ok(
        !seen.has(version),
        `A version must never recur. After ${count}, dataVersion() returned ${version} again.`,
      );
      seen.add(version);
      if (canFail && n % 6 === 0) await Promise.allSettled([other.commit([failing])]);
      seen.add(storage.dataVersion());
    }
    await expectStored(storage, [plantOf('ada', 1n), plantOf('ada', 2n)]);
  });
}
