import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { plantsJson } from '../../src/core/model/plant.ts';
import type { PlantFields } from '../../src/core/model/plant.ts';
import { countInPage, maxPageBytes } from '../../src/core/page.ts';

const text = fc
  .record({ unit: fc.constantFrom('x', '"', '\u0001', '\u2698', '\u{1F33F}'), length: fc.nat(20_000) })
  .map(({ unit, length }) => unit.repeat(length));
const plant = fc
  .record({ name: text, tag: fc.option(text, { nil: undefined }) })
  .map(({ name, tag }): PlantFields => (tag === undefined ? { name } : { name, tag }));

const bytesOf = (plants: readonly PlantFields[]): number => Buffer.byteLength(plantsJson(plants));

describe('countInPage', () => {
  it('ends before the plant with which the JSON would exceed maxPageBytes', () => {
    fc.assert(
      fc.property(fc.array(plant, { minLength: 1, maxLength: 40 }), (plants) => {
        const count = countInPage(plants);
        assert.ok(count === 1 || bytesOf(plants.slice(0, count)) <= maxPageBytes);
        assert.ok(count === plants.length || bytesOf(plants.slice(0, count + 1)) > maxPageBytes);
      }),
    );
  });

  it('counts a plant with which the JSON has exactly maxPageBytes, and the first plant even if it is larger', () => {
    const name = 'x'.repeat(maxPageBytes - bytesOf([{ name: '' }, { name: '' }]));
    assert.equal(countInPage([{ name }, { name: '' }]), 2);
    assert.equal(countInPage([{ name: `${name}x` }, { name: '' }]), 1);
    assert.equal(countInPage([{ name: name.repeat(2) }, { name: '' }]), 1);
  });
});
