import assert from 'node:assert/strict';
import { toJsonPage } from '../../src/core/page.ts';
import type { Plant, StorageAdapter } from '../../src/index.ts';
import { createEach } from '../../src/testing/plants.ts';

/** Not imported from `src`, so that tests fail if the size changes. */
const maxPageBytes = 262_144;

const long = 'x'.repeat(60_000);
/** Plants of various sizes, by their user. The JSON of a text has one to six bytes per code unit. */
const plantsOf: Record<string, (n: number) => Omit<Plant, 'id'>> = {
  // The JSON of 511 plants has exactly 262,144 bytes.
  'control characters': () => ({ name: '\u0001'.repeat(41), tag: '\u0001'.repeat(41) }),
  'fewer control characters': () => ({ name: '', tag: '\u0001'.repeat(41) }),
  'characters of three bytes': () => ({ name: '\u2698'.repeat(400) }),
  'quotation marks and surrogate pairs': () => ({ name: '"\u00e9\u{1F33F}'.repeat(100), tag: '' }),
  'long names among short ones': (n) => ({ name: n % 100 === 99 ? long : 'Fern', tag: 'indoor' }),
  'long tags': (n) => ({ name: 'Fern', ...(n % 3 === 0 && n < 30 && { tag: long }) }),
};

/** Asserts that `list` and `scan` end each page before the plant with which its JSON would exceed 256 KiB. */
export async function expectFullPages(storage: StorageAdapter): Promise<void> {
  for (const [user, fieldsOf] of Object.entries(plantsOf)) {
    const plants = Array.from({ length: 1000 }, (_, n) => ({ id: BigInt(n), ...fieldsOf(n) }));
    await storage.commit(createEach(plants.map((plant) => ({ user, plant }))));
    const page = await storage.list(user, { after: 2n, limit: 997 });
    const end = 3 + page.plants.length;
    assert.deepEqual(page, { plants: plants.slice(3, end), hasMore: true });
    expectFull(page.plants, plants[end]);
  }
  const pages: Plant[][] = [];
  for await (const page of storage.scan()) pages.push(page.map(({ plant }) => plant));
  for (const [n, page] of pages.slice(0, -1).entries()) expectFull(page, pages[n + 1]?.[0]);
}

function expectFull(page: readonly Plant[], next?: Plant): void {
  const bytesOf = (plants: Plant[]): number => Buffer.byteLength(toJsonPage({ plants, hasMore: false }).json);
  const bytes = bytesOf([...page]);
  const isFull = page.length === 1000 || bytesOf(page.concat(next ?? [])) > maxPageBytes;
  assert.ok(isFull && bytes <= maxPageBytes, `${page.length} plants with ${bytes} bytes`);
}
