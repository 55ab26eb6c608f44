import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { plantJson } from '../../src/model/plant.ts';
import type { Plant, StorageAdapter, StoredPlant } from '../../src/index.ts';

const maxPageBytes = 262_144;
const kilobyte = (text: string): string => text.repeat(1000 / Buffer.byteLength(JSON.stringify(text).slice(1, -1)));

/** Names whose JSON has 1, 3, 6 and 2 bytes per code unit, and plants of different lengths. */
const cases: { name: string; nameOf: (n: number) => string; tag?: string }[] = [
  { name: 'ASCII', nameOf: () => kilobyte('x').repeat(30) },
  { name: 'characters of three bytes', nameOf: () => '\u2698'.repeat(10_000) },
  { name: 'control characters, which JSON writes in six bytes', nameOf: () => '\u0001'.repeat(5000) },
  { name: 'emoji, of two code units and four bytes', nameOf: () => kilobyte('\u{1F33F}').repeat(30) },
  { name: 'quotes, which JSON escapes', nameOf: () => '"'.repeat(15_000) },
  { name: 'names of 250 bytes', nameOf: () => 'x'.repeat(250) },
  { name: 'names of 300 bytes', nameOf: () => 'x'.repeat(300) },
  { name: 'names of 60 control characters', nameOf: () => '\u0001'.repeat(60) },
  { name: 'a long name after 40 short ones', nameOf: (n) => (n < 40 ? 'Fern' : 'x'.repeat(60_000)) },
  { name: 'a long name among 100 short ones', nameOf: (n) => (n % 100 === 99 ? 'x'.repeat(60_000) : 'Fern') },
  { name: 'long tags', nameOf: () => 'Fern', tag: 'x'.repeat(30_000) },
];

/** Tests that `list`, `scan` and `listJson` end a page exactly with the plant that brings its JSON to 262144 bytes. */
export function testPageBound(open: (t: TestContext) => Promise<StorageAdapter>): void {
  for (const { name, nameOf, tag = 'indoor' } of cases) {
    it(`ends with the plant that brings its JSON to 262144 bytes: ${name}`, async (t) => {
      const storage = await open(t);
      const plants = Array.from({ length: 1000 }, (_, n): StoredPlant => {
        const plant = { id: BigInt(n), name: nameOf(n) };
        return n % 3 === 0 ? { ...plant, tag } : plant;
      });
      for (let at = 0; at < plants.length; at += 100) {
        await storage.commit(plants.slice(at, at + 100).map((plant) => ({ kind: 'create', user: 'ada', plant })));
      }
      const range = { after: 2n, limit: 997 };
      const rest = plants.slice(3);
      const expected = rest.slice(0, fullEnd(rest));
      assert.deepEqual(await storage.list('ada', range), expected);
      assert.deepEqual(
        (await storage.scan({ after: { user: 'ada', id: 2n }, limit: 997 })).map(({ plant }) => plant),
        expected,
      );
      assert.deepEqual(
        (await storage.listJson?.('ada', range)) ?? undefined,
        storage.listJson && {
          json: `[${expected.map(plantJson).join(',')}]`,
          count: expected.length,
          last: expected.at(-1)?.id,
          hasMore: expected.length < 997,
        },
      );
    });
  }
}

/** Returns the index after the plant that brings the JSON to 262144 bytes; `undefined` if all the JSON is smaller. */
export function fullEnd(plants: readonly Plant[]): number | undefined {
  let bytes = 0;
  const last = plants.findIndex((plant) => (bytes += Buffer.byteLength(plantJson(plant))) >= maxPageBytes);
  return last === -1 ? undefined : last + 1;
}
