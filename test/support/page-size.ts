import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { plantsJson } from '../../src/core/model/plant.ts';
import type { PlantFields } from '../../src/core/model/plant.ts';
import type { Plant, PlantPage, StorageAdapter } from '../../src/index.ts';
import { maxPageBytes } from '../../src/core/page.ts';
import { hostilePlants, owned } from './stored-plants.ts';
import { createEach } from './writes.ts';

const long = 'x'.repeat(60_000);
/** Plants of various sizes. The JSON of the names has one, two, three or six bytes per code unit. */
const cases: { name: string; nameOf: (n: number) => string; tag?: string; count?: number }[] = [
  { name: 'ASCII', nameOf: () => 'x'.repeat(30_000) },
  { name: 'control characters, which JSON writes in six bytes', nameOf: () => '\u0001'.repeat(5000) },
  { name: 'names of 260 control characters', nameOf: () => '\u0001'.repeat(260), count: 200 },
  { name: 'names of 200 characters of three bytes', nameOf: () => '\u2698'.repeat(200), count: 1000 },
  { name: 'a long name after 40 short ones', nameOf: (n) => (n < 40 ? 'Fern' : long) },
  { name: 'a long name among 100 short ones', nameOf: (n) => (n % 100 === 99 ? long : 'Fern'), count: 1000 },
  { name: 'long tags', nameOf: () => 'Fern', tag: 'x'.repeat(30_000) },
];

/**
 * Tests that `list` and `scan` end a page before its JSON exceeds 256 KiB. Without this limit, a page of
 * long names would require a lot of memory.
 */
export function testPageSize(open: (t: TestContext) => Promise<StorageAdapter>): void {
  for (const { name, nameOf, tag = 'indoor', count = 100 } of cases) {
    it(`ends before its JSON exceeds 256 KiB: ${name}`, async (t) => {
      const storage = await open(t);
      const plants = Array.from({ length: count }, (_, n): Plant => {
        const plant = { id: BigInt(n), name: nameOf(n) };
        return n % 3 === 0 ? { ...plant, tag } : plant;
      });
      await storage.commit(plants.map((plant) => ({ kind: 'create', user: 'ada', plant })));
      const rest = plants.slice(3);
      const range = { after: 2n, limit: 997 };
      const listed = await storage.list('ada', range);
      assert.deepEqual(listed.plants, rest.slice(0, listed.plants.length));
      assertSize(listed.plants);
      assert.equal(listed.hasMore, true);
      for await (const scanned of storage.scan()) {
        assertSize(scanned.map(({ plant }) => plant));
        break;
      }
    });
  }
}

/** Asserts that the JSON of a page has 90% to 100% of `maxPageBytes`. */
function assertSize(plants: readonly PlantFields[]): void {
  const bytes = Buffer.byteLength(plantsJson(plants));
  assert.ok(bytes > maxPageBytes * 0.9 && bytes <= maxPageBytes, `${bytes} bytes`);
}

/** Tests that lists are exact, alone and together with others. An adapter may read several lists with one statement. */
export function testListedText(open: (t: TestContext) => Promise<StorageAdapter>): void {
  it('returns the same plants alone and among other lists', async (t) => {
    const storage = await open(t);
    t.after(() => storage.close());
    await storage.commit(createEach(hostilePlants));
    const users = [...new Set(hostilePlants.map(({ user }) => user)), 'nobody'];
    for (const after of [undefined, -1n, 0n, 5n]) {
      const requests = users.flatMap((user) => [1, 2, 30, 2].map((limit) => ({ user, range: { after, limit } })));
      const expected = requests.map(({ user, range: { limit } }): PlantPage => {
        const plants = hostilePlants.filter((each) => each.user === user).map(({ plant }) => plant);
        const found = plants
          .filter(({ id }) => after === undefined || id > after)
          .sort((a, b) => (a.id < b.id ? -1 : 1));
        return { plants: found.slice(0, limit), hasMore: found.length > limit };
      });
      const list = ({ user, range }: (typeof requests)[number]): Promise<PlantPage> => storage.list(user, range);
      assert.deepEqual(await Promise.all(requests.map(list)), expected);
      for (const [n, request] of requests.entries()) assert.deepEqual(await list(request), expected[n]);
    }
  });

  it('returns any mix of long texts and the separators of PostgresStorage', async (t) => {
    const storage = await open(t);
    t.after(() => storage.close());
    const pieces = ['\x7f,', '\x7f:', '\x7f;', '\x7f!', '\x7f', 'x'.repeat(3000), 'a'];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(''));
    const fields = fc.array(fc.record({ name: text, tag: text }, { requiredKeys: ['name'] }), { maxLength: 4 });
    let users = 0;
    await fc.assert(
      fc.asyncProperty(fields, fc.constantFrom(1, 2, 3, 1000), async (all, limit) => {
        const user = `user ${users++}`;
        const plants = all.map((each, n): Plant => ({ id: BigInt(n), ...each }));
        await storage.commit(createEach(plants.map((plant) => owned(user, plant))));
        const expected = { plants: plants.slice(0, limit), hasMore: plants.length > limit };
        assert.deepEqual(await storage.list(user, { after: undefined, limit }), expected);
      }),
      { numRuns: 200 },
    );
  });
}
