import { maxInt64 } from '../model/int64.ts';
import { expect, expectCode, expectEqual, shown } from './expect.ts';
import { all, create, ids, range, remove } from './plants.ts';
import type { Suite } from './suite.ts';

/** Registers the tests for `close`. */
export function testClose({ test }: Suite): void {
  test('every call after close rejects with the code closed', async ({ open }) => {
    const storage = await open();
    await storage.commit([create('ada', 1n)]);
    await storage.close();
    const contract = (method: string): string =>
      `After close, ${method} must reject with a PlantStoreError that has the code closed.`;
    await expectCode(storage.commit([create('ada', 2n)]), 'closed', contract('commit'));
    await expectCode(storage.list('ada', { after: undefined, limit: 1 }), 'closed', contract('list'));
    await expectCode(storage.scan({ after: undefined, limit: 1 }), 'closed', contract('scan'));
    const listJson = storage.listJson?.('ada', { after: undefined, limit: 1 });
    if (listJson !== undefined) await expectCode(listJson, 'closed', contract('listJson'));
  });

  test('a second call to close does nothing', async ({ open }) => {
    const storage = await open();
    await storage.close();
    const [second] = await Promise.allSettled([storage.close()]);
    const seen = second.status === 'rejected' ? ` It rejected with ${shown(second.reason)}.` : '';
    expect(second.status === 'fulfilled', `A second call to close must do nothing.${seen}`);
  });

  test('close may be called during a commit and a list call, which then succeed or reject', async ({ open }) => {
    const storage = await open();
    const [committed, listed, closed] = await Promise.allSettled([
      storage.commit([create('ada', 1n)]),
      storage.list('ada', { after: undefined, limit: 1 }),
      storage.close(),
    ]);
    if (committed.status === 'fulfilled') {
      expectEqual(committed.value, [true], 'A commit that succeeds during close must return its outcome.');
    }
    if (listed.status === 'fulfilled') {
      expect(
        listed.value.length <= 1,
        'A list call that succeeds during close must return at most as many plants as its limit.',
      );
    }
    const seen = closed.status === 'rejected' ? ` It rejected with ${shown(closed.reason)}.` : '';
    expect(closed.status === 'fulfilled', `close must succeed during a commit and a list call.${seen}`);
  });
}

/**
 * Registers the tests for the `persistent` option, which states whether adapters with the same location share their
 * plants.
 */
export function testSecondAdapter({ test, options: { persistent } }: Suite): void {
  const promise = persistent
    ? 'If persistent is true, all adapters on the same location must share the same plants.'
    : 'If persistent is false, every adapter must have its own plants and must be empty when it is opened.';

  test(
    persistent
      ? 'an adapter returns the plants of a closed adapter on its location'
      : 'an adapter is empty when it is opened, even if a closed adapter on its location had plants',
    async ({ createLocation, open }) => {
      const location = await createLocation();
      const first = await open(location);
      await first.commit([create('ada', maxInt64, 'Fern', ''), create('ada', 2n), create('bob', 2n)]);
      await first.commit([remove('ada', 2n)]);
      expectEqual(ids(await all(first, 'ada')), [maxInt64], 'list must return the plants that its adapter committed.');
      await first.close();
      const second = await open(location);
      expectEqual(await all(second, 'ada'), persistent ? [{ id: maxInt64, name: 'Fern', tag: '' }] : [], promise);
      expectEqual(ids(await all(second, 'bob')), persistent ? [2n] : [], promise);
    },
  );

  test(
    persistent
      ? 'a commit of one adapter is immediately visible to another adapter'
      : 'a commit of one adapter is never visible to another adapter',
    async ({ createLocation, open }) => {
      const location = await createLocation();
      const [first, second] = [await open(location), await open(location)];
      await first.commit([create('ada', 1n)]);
      expectEqual(ids(await all(first, 'ada')), [1n], 'list must return the plants that its adapter committed.');
      expectEqual(ids(await all(second, 'ada')), persistent ? [1n] : [], promise);
      expectEqual(await second.commit([create('ada', 1n)]), [!persistent], promise);
      expectEqual(await second.commit([remove('ada', 1n)]), [true], promise);
      expectEqual(ids(await all(first, 'ada')), persistent ? [] : [1n], promise);
    },
  );

  test(
    persistent
      ? 'of two concurrent creates of the same plant, exactly one succeeds'
      : 'two adapters can create plants with the same id',
    async ({ createLocation, open }) => {
      const location = await createLocation();
      const [first, second] = [await open(location), await open(location)];
      for (const n of range(50)) {
        const batch = [create('ada', BigInt(n)), create(`user ${n}`, 1n)];
        const [ofFirst, ofSecond] = await Promise.all([first.commit(batch), second.commit(batch)]);
        for (const [index, plant] of [`${n} of the user ada`, `1 of the user user ${n}`].entries()) {
          const outcomes = [ofFirst[index], ofSecond[index]];
          expect(
            outcomes.filter(Boolean).length === (persistent ? 1 : 2),
            `${promise} Two adapters concurrently created plant ${plant}, and their creates returned ` +
              `${outcomes.join(' and ')}. ${persistent ? 'Exactly one create' : 'Both creates'} must return true.`,
          );
        }
      }
      const created = range(50).map(BigInt);
      expectEqual(
        ids(await all(first, 'ada')),
        created,
        'The first adapter must list the 50 plants that were created.',
      );
      expectEqual(
        ids(await all(second, 'ada')),
        created,
        'The second adapter must list the 50 plants that were created.',
      );
    },
  );
}
