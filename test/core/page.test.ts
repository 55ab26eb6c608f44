import assert from 'node:assert/strict';
import { it } from 'node:test';
import { countInPage, maxPageBytes } from '../../src/core/page.ts';
import { plantsJson } from '../../src/core/model/plant.ts';
import type { Plant } from '../../src/index.ts';

/** Returns three plants. The last name is lengthened, so that the JSON of the plants has this many bytes. */
function sized(fields: Omit<Plant, 'id'>, bytes: number): Plant[] {
  const plants = [1n, 2n, 3n].map((id) => ({ id, ...fields }));
  const last = plants[2] ?? assert.fail();
  last.name += 'x'.repeat(bytes - Buffer.byteLength(plantsJson(plants)));
  return plants;
}

it('a page ends before its JSON exceeds 256 KiB, whatever its characters need', () => {
  for (const name of ['é', '\u0001', '"', '\u{1F33F}'].map((character) => character.repeat(5_000))) {
    for (const fields of [{ name }, { name, tag: '' }, { name, tag: name }]) {
      assert.equal(countInPage(sized(fields, maxPageBytes)), 3);
      assert.equal(countInPage(sized(fields, maxPageBytes + 1)), 2);
    }
  }
});
