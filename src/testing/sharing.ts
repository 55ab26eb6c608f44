import type { Write } from '../core/storage-adapter.ts';
import { expectEqual } from './expect.ts';
import { Skip } from './place.ts';
import type { Tests } from './place.ts';
import { create, createEach, integersBelow, plantOf, remove, removeEach } from './plants.ts';
import { expectStored } from './stored.ts';

export const sharingTests: Tests = {
  'adapters at one location share their plants if shared is true, and otherwise have their own': async (place) => {
    const { shared } = place;
    if (shared === 'exclusive') throw new Skip('Only one adapter can be open.');
    const rule = shared
      ? 'If shared is true, all adapters at a location must share their plants.'
      : 'If shared is false, every adapter must have its own plants and must be empty when it is opened.';
    const concurrent = `${rule} Of two concurrent writes for one plant at one location, this number must succeed.`;
    const [first, second] = [await place.open(), await place.open()];
    const commitBoth = async (one: Write, two: Write): Promise<number> =>
      (await Promise.all([first.commit([one]), second.commit([two])])).flat().filter(Boolean).length;

    const same = integersBelow(50).map((n) => plantOf('ada', n));
    for (const write of createEach(same)) expectEqual(await commitBoth(write, write), shared ? 1 : 2, concurrent);
    for (const n of integersBelow(20)) await commitBoth(create(n, 'bob'), create(n + 20, 'bob'));
    const others = integersBelow(shared ? 40 : 20).map((n) => plantOf('bob', n, ''));
    await expectStored(first, [...same, ...others], `${rule} Concurrent commits must all take effect.`);
    if (shared) for (const write of removeEach(same)) expectEqual(await commitBoth(write, write), 1, concurrent);

    await first.close();
    await expectStored(await place.open(), shared ? others : [], rule);
    const rest = 'An adapter must work when another one was closed.';
    expectEqual(await second.commit([remove(20, 'bob')]), [true], rest);
    if (shared) await expectStored(second, others.toSpliced(20, 1), rest);
  },
};
