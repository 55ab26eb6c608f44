import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseNewPlant, plantJson, toInt64 } from '../../../src/core/model/plant.ts';
import { maxInt64, minInt64 } from '../../../src/core/model/int64.ts';
import { isStorableString } from '../../../src/core/model/storable-string.ts';

const rejects = (input: unknown, message: string): void => {
  assert.throws(() => parseNewPlant(input), { name: 'PlantStoreError', code: 'invalid_plant', message });
};

describe('parseNewPlant', () => {
  it('returns a new object with id, name and tag, and ignores unknown fields', () => {
    const input = { id: 1, name: 'Fern', tag: 'indoor', colour: 'green' };
    assert.deepEqual(parseNewPlant(input), { id: 1n, name: 'Fern', tag: 'indoor' });
    assert.deepEqual(parseNewPlant({ id: maxInt64, name: '', tag: '' }), { id: maxInt64, name: '', tag: '' });
  });

  it('omits a tag that is undefined', () => {
    assert.deepEqual(Object.keys(parseNewPlant({ id: 1, name: 'Fern', tag: undefined })), ['id', 'name']);
  });

  it('rejects input that is not an object', () => {
    for (const input of [undefined, null, 'plant', 1, []]) {
      rejects(input, 'A NewPlant is an object with id, name and, optionally, tag.');
    }
  });

  it('rejects a missing field', () => {
    rejects({ name: 'Fern' }, 'id is required.');
    rejects({ id: 1 }, 'name is required.');
  });

  it('rejects an id that is not an int64', () => {
    for (const id of ['1', null, true, 1.5, NaN, Infinity, maxInt64 + 1n, minInt64 - 1n]) {
      rejects({ id, name: '' }, 'id must be a number with an integral value from -2^63 to 2^63-1.');
    }
    rejects({ id: 2 ** 53, name: '' }, 'id is a number outside the range of safe integers: pass a bigint.');
  });

  it('rejects a name or tag that is not a storable string', () => {
    for (const field of ['name', 'tag']) {
      rejects({ id: 1, name: '', [field]: null }, `${field} must be a string.`);
      rejects({ id: 1, name: '', [field]: 'a\0' }, `${field} must not contain U+0000 or an unpaired surrogate.`);
    }
  });
});

describe('plantJson', () => {
  it('contains name and tag, without the id and without an absent tag', () => {
    assert.equal(plantJson({ name: 'Fern', tag: '' }), '{"name":"Fern","tag":""}');
    assert.equal(plantJson({ id: 1n, name: '"' } as { name: string }), '{"name":"\\""}');
  });
});

describe('isStorableString', () => {
  it('accepts every well-formed string without U+0000', () => {
    for (const text of ['', 'a', '\u0001', '\uffff', '\u{1F33F}']) assert.equal(isStorableString(text), true);
    for (const text of ['\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800']) assert.equal(isStorableString(text), false);
  });
});

describe('toInt64', () => {
  it('converts int64s and safe integers, and nothing else', () => {
    assert.deepEqual([minInt64, maxInt64, 0n, -1, 2 ** 53 - 1].map(toInt64), [
      minInt64,
      maxInt64,
      0n,
      -1n,
      2n ** 53n - 1n,
    ]);
    for (const input of [maxInt64 + 1n, minInt64 - 1n, 2 ** 53, 0.5, NaN, '1', null, undefined]) {
      assert.equal(toInt64(input), undefined);
    }
  });
});
