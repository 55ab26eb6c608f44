import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countInPage, cutPage, firstId, maxPageBytes, maxPageLength } from '../../src/core/page.ts';
import { plantsJson } from '../../src/core/model/plant.ts';
import type { Plant } from '../../src/index.ts';

const plantsOf = (count: number, name: string, tag?: string): Plant[] =>
  Array.from({ length: count }, (_, n) => ({ id: BigInt(n), name, ...(tag !== undefined && { tag }) }));

/** Lengthens the last name, so that the JSON of the plants has this many bytes. */
function sized(plants: Plant[], bytes: number): Plant[] {
  const last = plants.at(-1) ?? assert.fail();
  last.name += 'x'.repeat(bytes - Buffer.byteLength(plantsJson(plants)));
  return plants;
}

it('a page ends before its JSON exceeds 256 KiB, whatever its characters need', () => {
  for (const name of ['é', '\u0001', '"', '\u{1F33F}']) {
    for (const tag of [undefined, '', name]) {
      const plants = plantsOf(3, name.repeat(5_000), tag);
      assert.equal(countInPage(sized(structuredClone(plants), maxPageBytes)), 3);
      assert.equal(countInPage(sized(plants, maxPageBytes + 1)), 2);
    }
  }
});

it('a page contains at most 1000 plants, and at least one, even if it is larger than 256 KiB', () => {
  assert.equal(countInPage(plantsOf(maxPageLength + 1, 'Fern')), maxPageLength);
  assert.equal(countInPage(plantsOf(2, 'x'.repeat(maxPageBytes))), 1);
  assert.equal(countInPage([]), 0);
});

it('cutPage keeps at most the limit, and says whether more plants follow', () => {
  const found = plantsOf(3, 'Fern');
  assert.deepEqual(cutPage(found, 2), { plants: found.slice(0, 2), hasMore: true });
  assert.deepEqual(cutPage(found, 3), { plants: found, hasMore: false });
  assert.deepEqual(cutPage([], 0), { plants: [], hasMore: false });
});

it('firstId is the smallest int64 without after, and past the largest int64 after it', () => {
  assert.deepEqual([firstId(undefined), firstId(2n ** 63n - 1n)], [-(2n ** 63n), 2n ** 63n]);
});
