import type { Write } from '../core/storage-adapter.ts';
import { expectEqual } from './expect.ts';
import { create, createAll, plantOf, range, remove, removeAll } from './plants.ts';
import { expectStored } from './stored.ts';
import type { Suite } from './suite.ts';

export function testShared(suite: Suite): void {
  const { shared } = suite.options;
  const rule = shared
    ? 'If shared is true, all adapters at a location must share their plants.'
    : 'If shared is false, every adapter must have its own plants and must be empty when it is opened.';

  suite.test(`adapters at one location ${shared ? 'share' : 'do not share'} their plants`, async (place) => {
    const [first, second] = [await place.open(), await place.open()];
    const commitBoth = async (one: Write, two: Write): Promise<number> =>
      (await Promise.all([first.commit([one]), second.commit([two])])).flat().filter(Boolean).length;

    const stored = range(50).map((n) => plantOf('ada', BigInt(n)));
    const concurrent = 'Of two concurrent writes for one plant at one location, this number must succeed.';
    for (const write of createAll(stored)) {
      expectEqual(await commitBoth(write, write), shared ? 1 : 2, `${rule} ${concurrent}`);
    }
    expectEqual(await second.commit([remove('ada', 0n)]), [true], rule);
    for (const n of range(20)) await commitBoth(create('bob', BigInt(n)), create('bob', BigInt(n + 20)));
    const kept = [...stored.slice(shared ? 1 : 0), ...range(shared ? 40 : 20).map((n) => plantOf('bob', BigInt(n)))];
    await expectStored(first, kept, `${rule} Concurrent commits of different plants must all take effect.`);
    const removed = shared ? kept.splice(0, 20) : [];
    for (const write of removeAll(removed)) {
      expectEqual(await commitBoth(write, write), 1, `${rule} ${concurrent}`);
    }

    await first.close();
    await expectStored(await place.open(), shared ? kept : [], rule);
    const last = plantOf('bob', -1n);
    expectEqual(await second.commit(createAll([last])), [true], 'An adapter must work when another one was closed.');
    if (shared) await expectStored(second, [...kept, last], rule);
  });
}
