import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { plantsJson } from '../../src/core/model/plant.ts';
import type { PlantFields } from '../../src/core/model/plant.ts';
import type { Plant, StorageAdapter } from '../../src/index.ts';
import { maxPageBytes, readPages, toJsonPage } from '../../src/core/page.ts';
import type { PageRequest } from '../../src/core/page.ts';
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
 * Tests that `list`, `readPages` and `scan` end a page before its JSON exceeds 256 KiB. Without this limit, a page of
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
      assert.deepEqual(await readPages(storage, [{ user: 'ada', ...range }]), [toJsonPage(listed)]);
    });
  }
}

/** Asserts that the JSON of a page has 90% to 100% of `maxPageBytes`. */
function assertSize(plants: readonly PlantFields[]): void {
  const bytes = Buffer.byteLength(plantsJson(plants));
  assert.ok(bytes > maxPageBytes * 0.9 && bytes <= maxPageBytes, `${bytes} bytes`);
}

/** Tests that `readPages` returns the plants of `list`, in the order of the requests. */
export function testJsonPages(open: (t: TestContext) => Promise<StorageAdapter>): void {
  it('is the same as JSON', async (t) => {
    const storage = await open(t);
    t.after(() => storage.close());
    await storage.commit(createEach(hostilePlants));
    const users = [...new Set(hostilePlants.map(({ user }) => user)), 'nobody'];
    const requests = [undefined, -1n, 0n, 5n].flatMap((after) =>
      users.flatMap((user): PageRequest[] => [1, 2, 30, 2].map((limit) => ({ user, after, limit }))),
    );
    for (let at = 0; at < requests.length; at += 20) {
      const batch = requests.slice(at, at + 20);
      const expected = await Promise.all(
        batch.map(async ({ user, ...range }) => toJsonPage(await storage.list(user, range))),
      );
      assert.deepEqual(await readPages(storage, batch), expected);
      const single = batch.map(async (request) => await readPages(storage, [request]));
      assert.deepEqual((await Promise.all(single)).flat(), expected);
    }
  });

  it('is the same as JSON for any mix of long texts and the separators of PostgresStorage', async (t) => {
    const storage = await open(t);
    t.after(() => storage.close());
    const pieces = ['\x7f,', '\x7f:', '\x7f;', '\x7f!', '\x7f', 'x'.repeat(3000), 'a'];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(''));
    const plants = fc.array(fc.record({ name: text, tag: text }, { requiredKeys: ['name'] }), { maxLength: 4 });
    let users = 0;
    await fc.assert(
      fc.asyncProperty(plants, fc.constantFrom(1, 2, 3, 1000), async (fields, limit) => {
        const user = `user ${users++}`;
        await storage.commit(createEach(fields.map((plant, n) => owned(user, { id: BigInt(n), ...plant }))));
        const expected = toJsonPage(await storage.list(user, { after: undefined, limit }));
        assert.deepEqual(await readPages(storage, [{ user, after: undefined, limit }]), [expected]);
      }),
      { numRuns: 200 },
    );
  });
}
