import assert from 'node:assert/strict';
import { plantsJson } from '../../src/core/model/plant.ts';
import type { Plant, StorageAdapter } from '../../src/index.ts';
import { createEach } from '../../src/testing/plants.ts';

/** Not the constant of the source, so that a change of it is noticed. */
const maxPageBytes = 262_144;

const long = 'x'.repeat(60_000);
/** Plants of various sizes, by their user. The JSON of the names has one, three or six bytes per code unit. */
const plantsOf: Record<string, (n: number) => Omit<Plant, 'id'>> = {
  'control characters': () => ({ name: '\u0001'.repeat(80) }),
  'characters of three bytes': () => ({ name: '\u2698'.repeat(400) }),
  'long names among short ones': (n) => ({ name: n % 100 === 99 ? long : 'Fern', tag: 'indoor' }),
  'long tags': (n) => ({ name: 'Fern', ...(n % 3 === 0 && n < 30 && { tag: long }) }),
};

/** Asserts that `list` and `scan` end a page before its JSON exceeds 256 KiB, but not earlier than necessary. */
export async function expectFullPages(storage: StorageAdapter): Promise<void> {
  const pages: Plant[][] = [];
  for (const [user, fieldsOf] of Object.entries(plantsOf)) {
    const plants = Array.from({ length: 1000 }, (_, n) => ({ id: BigInt(n), ...fieldsOf(n) }));
    await storage.commit(createEach(plants.map((plant) => ({ user, plant }))));
    const listed = await storage.list(user, { after: 2n, limit: 997 });
    assert.deepEqual(listed, { plants: plants.slice(3, 3 + listed.plants.length), hasMore: true });
    pages.push(listed.plants);
  }
  for await (const scanned of storage.scan()) pages.push(scanned.map(({ plant }) => plant));
  // The last page of the scan can have any size.
  for (const page of pages.slice(0, -1)) {
    const bytes = Buffer.byteLength(plantsJson(page));
    const isFull = page.length === 1000 || bytes > maxPageBytes - 1.1 * long.length;
    assert.ok(isFull && bytes <= maxPageBytes, `${page.length} plants with ${bytes} bytes`);
  }
}
