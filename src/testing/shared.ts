import { expectEqual } from './expect.ts';
import { createAll, plantOf, range, remove } from './plants.ts';
import { expectStored } from './stored.ts';
import type { Suite } from './suite.ts';

export function testShared(suite: Suite): void {
  const { shared } = suite.options;
  const rule = shared
    ? 'If shared is true, all adapters at a location must share their plants.'
    : 'If shared is false, every adapter must have its own plants and must be empty when it is opened.';

  suite.test(`adapters at one location ${shared ? 'share' : 'do not share'} their plants`, async (place) => {
    const [first, second] = [await place.open(), await place.open()];
    const stored = range(50).map((n) => plantOf('ada', BigInt(n)));
    for (const owned of stored) {
      const outcomes = await Promise.all([first.commit(createAll([owned])), second.commit(createAll([owned]))]);
      const created = outcomes.flat().filter(Boolean).length;
      const concurrent = 'Of two concurrent creates of one plant at one location, this number must succeed.';
      expectEqual(created, shared ? 1 : 2, `${rule} ${concurrent}`);
    }
    expectEqual(await second.commit([remove('ada', 0n)]), [true], rule);
    const kept = stored.slice(shared ? 1 : 0);
    for (const n of range(20)) {
      const [one, two] = [plantOf('bob', BigInt(2 * n)), plantOf('bob', BigInt(2 * n + 1))];
      await Promise.all([first.commit(createAll([one])), second.commit(createAll([two]))]);
      kept.push(...(shared ? [one, two] : [one]));
    }
    await expectStored(first, kept, `${rule} Concurrent commits of different plants must all take effect.`);
    const removals = shared ? kept.splice(0, 20) : [];
    for (const { user, plant } of removals) {
      const [one, two] = [[remove(user, plant.id)], [remove(user, plant.id)]];
      const outcomes = await Promise.all([first.commit(one), second.commit(two)]);
      const removed = outcomes.flat().filter(Boolean).length;
      expectEqual(removed, 1, `${rule} Of two concurrent deletes of one plant, this number must succeed.`);
    }
    await first.close();
    const third = await place.open();
    await expectStored(third, shared ? kept : [], rule);
    await third.close();
    const last = plantOf('bob', -1n);
    expectEqual(await second.commit(createAll([last])), [true], 'An adapter must work when another one was closed.');
    if (shared) await expectStored(second, [...kept, last], rule);
  });
}
