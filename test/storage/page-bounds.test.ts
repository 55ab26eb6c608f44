import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { plantJson } from '../../src/model/plant.ts';
import type { Plant } from '../../src/index.ts';
import { fullPageEnd, maxPageBytes } from '../../src/storage/page-bounds.ts';
import { fullEnd } from '../support/page-bound.ts';

const text = fc
  .record({ unit: fc.constantFrom('x', '"', '\u0001', '\u2698', '\u{1F33F}'), length: fc.nat(20_000) })
  .map(({ unit, length }) => unit.repeat(length));
const plant = fc
  .record({ name: text, tag: fc.option(text, { nil: undefined }) })
  .map(({ name, tag }): Plant => (tag === undefined ? { name } : { name, tag }));

describe('fullPageEnd', () => {
  it('returns the index after the plant that brings the JSON to maxPageBytes', () => {
    fc.assert(
      fc.property(fc.array(plant, { maxLength: 40 }), (plants) => {
        assert.equal(fullPageEnd(plants), fullEnd(plants));
      }),
    );
  });

  it('counts a page that has exactly maxPageBytes as full', () => {
    const name = 'x'.repeat(maxPageBytes - Buffer.byteLength(plantJson({ name: '' })));
    assert.equal(fullPageEnd([{ name }, { name: '' }]), 1);
    assert.equal(fullPageEnd([{ name: name.slice(1) }]), undefined);
  });
});
