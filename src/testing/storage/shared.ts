import { expect, expectEqual } from './expect.ts';
import { create, createAll, plantOf, range, remove } from './plants.ts';
import { expectStored } from './stored.ts';
import type { Suite } from './suite.ts';

export function testShared(suite: Suite): void {
  const { persistent } = suite.options;
  const rule = persistent
    ? 'If persistent is true, all adapters at a location must share their plants.'
    : 'If persistent is false, every adapter must have its own plants and must be empty when it is opened.';

  suite.test(`adapters at one location ${persistent ? 'share' : 'do not share'} their plants`, async (session) => {
    const location = await session.createLocation();
    const [first, second] = [await session.open(location), await session.open(location)];
    const stored = range(50).map((n) => plantOf('ada', BigInt(n)));
    for (const owned of stored) {
      const outcomes = await Promise.all([first.commit(createAll([owned])), second.commit(createAll([owned]))]);
      const created = outcomes.flat().filter(Boolean).length;
      const due = persistent ? 1 : 2;
      expect(created === due, `${rule} Of two concurrent creates of one plant, ${due} must succeed, not ${created}.`);
    }
    expectEqual(await second.commit([remove('ada', 0n)]), [true], rule);
    await expectStored(first, persistent ? stored.slice(1) : stored, { rule });
    await first.close();
    await expectStored(await session.open(location), persistent ? stored.slice(1) : [], { rule });
  });
}

const changes = [
  ...[[create('ada', 3n)], [remove('ada', 3n)], [remove('ada', 1n)], [create('ada', 1n)]],
  ...[
    [remove('ada', 2n), create('ada', 4n)],
    [remove('ada', 4n), create('ada', 2n)],
  ],
];

export function testVersions(suite: Suite): void {
  const { persistent } = suite.options;
  const canFail = suite.options.makeWriteFail !== undefined;
  suite.test('dataVersion changes with each commit of another adapter, and never recurs', async (session, t) => {
    const location = await session.createLocation();
    const [storage, other] = [await session.open(location), await session.open(location)];
    if (storage.dataVersion() === undefined) {
      t.skip('The adapter has no dataVersion.');
      return;
    }
    await storage.commit([create('ada', 1n), create('ada', 2n)]);
    await other.commit([]);
    if (canFail) await session.makeWriteFail(location, create('ada', 13n));
    const seen = new Set([storage.dataVersion()]);
    for (const n of range(persistent ? 150 : 0)) {
      await other.commit(changes[n % changes.length] ?? []);
      const version = storage.dataVersion();
      const count = `${n + 1} commits of another adapter`;
      expect(
        !seen.has(version),
        `A version must never recur. After ${count}, dataVersion() returned ${version} again.`,
      );
      seen.add(version);
      if (canFail && n % 6 === 0) await Promise.allSettled([other.commit([create('ada', 13n)])]);
      seen.add(storage.dataVersion());
    }
    await expectStored(storage, [plantOf('ada', 1n), plantOf('ada', 2n)]);
  });
}
