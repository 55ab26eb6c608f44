import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { plantsJson } from '../../src/core/model/plant.ts';
import type { Plant, PlantPage, StorageAdapter } from '../../src/index.ts';
import { maxPageBytes } from '../../src/core/page.ts';
import { owned } from './stored-plants.ts';
import { createEach } from './writes.ts';

const long = 'x'.repeat(60_000);
/** Plants of various sizes. The JSON of the names has one, three or six bytes per code unit. */
const cases: Record<string, (n: number) => Omit<Plant, 'id'>> = {
  'names of 260 control characters, which JSON writes in six bytes': () => ({ name: '\u0001'.repeat(260) }),
  'names of 400 characters of three bytes': () => ({ name: '\u2698'.repeat(400) }),
  'a long name among 100 short ones': (n) => ({ name: n % 100 === 99 ? long : 'Fern', tag: 'indoor' }),
  'long tags': (n) => ({ name: 'Fern', ...(n % 3 === 0 && { tag: long }) }),
};

/** Tests that `list` and `scan` end a page before its JSON exceeds 256 KiB, but not long before. */
export function testPageSize(open: (t: TestContext) => Promise<StorageAdapter>): void {
  for (const [name, fieldsOf] of Object.entries(cases)) {
    it(`ends before its JSON exceeds 256 KiB: ${name}`, async (t) => {
      const storage = await open(t);
      const plants = Array.from({ length: 1000 }, (_, n) => ({ id: BigInt(n), ...fieldsOf(n) }));
      await storage.commit(createEach(plants.map((plant) => owned('ada', plant))));
      const listed = await storage.list('ada', { after: 2n, limit: 997 });
      assert.deepEqual(listed, { plants: plants.slice(3, 3 + listed.plants.length), hasMore: true });
      const pages = [listed.plants];
      for await (const scanned of storage.scan()) {
        pages.push(scanned.map(({ plant }) => plant));
        break;
      }
      for (const page of pages) {
        const bytes = Buffer.byteLength(plantsJson(page));
        assert.ok(bytes > maxPageBytes * 0.9 && bytes <= maxPageBytes, `${bytes} bytes`);
      }
    });
  }
}

/** Tests that lists are exact, alone and together with others. An adapter may read several lists with one statement. */
export function testListedText(open: (t: TestContext) => Promise<StorageAdapter>): void {
  it('contains any mix of long texts and the separators of PostgresStorage, alone and among other lists', async (t) => {
    const storage = await open(t);
    t.after(() => storage.close());
    const pieces = ['\x7f,', '\x7f:', '\x7f;', '\x7f!', '\x7f', 'x'.repeat(3000), 'a', '\u{1F33F}', '\n', '"\\'];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(''));
    const fields = fc.array(fc.record({ name: text, tag: text }, { requiredKeys: ['name'] }), { maxLength: 4 });
    let users = 0;
    await fc.assert(
      fc.asyncProperty(fields, async (all) => {
        const user = `user ${users++}`;
        const plants = all.map((each, n): Plant => ({ id: BigInt(n), ...each }));
        await storage.commit(createEach(plants.map((plant) => owned(user, plant))));
        const limits = [1, 2, 3, 1000];
        const list = (limit: number): Promise<PlantPage> => storage.list(user, { after: undefined, limit });
        const expected = limits.map((limit) => ({ plants: plants.slice(0, limit), hasMore: plants.length > limit }));
        assert.deepEqual(await Promise.all(limits.map(list)), expected);
        assert.deepEqual(await list(3), expected[2]);
      }),
      { numRuns: 200 },
    );
  });
}
