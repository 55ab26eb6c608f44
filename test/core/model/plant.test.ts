import assert from 'node:assert/strict';
import { it } from 'node:test';
import { int64FromJsonNumber, maxInt64, minInt64, parseNewPlant } from '../../../src/core/model/plant.ts';

it('parseNewPlant returns a new object with id, name and tag, and ignores unknown fields', () => {
  const input = { id: 1, name: 'Fern', tag: 'indoor', color: 'green' };
  assert.deepEqual(parseNewPlant(input), { id: 1n, name: 'Fern', tag: 'indoor' });
  assert.deepEqual(Object.keys(parseNewPlant({ id: 1, name: 'Fern', tag: undefined })), ['id', 'name']);
});

it('parseNewPlant rejects a value that is not an object, and names an invalid field', () => {
  const texts = [null, 7, '\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800'];
  const invalid = {
    id: [undefined, '1', null, true, 1.5, NaN, Infinity, 2 ** 53, maxInt64 + 1n, minInt64 - 1n],
    name: [undefined, ...texts],
    tag: texts,
  };
  for (const [field, values] of Object.entries(invalid)) {
    for (const value of values) {
      const input = { id: 1, name: 'Fern', [field]: value };
      assert.throws(() => parseNewPlant(input), { code: 'invalid_plant', message: new RegExp(`^${field} (is|must)`) });
    }
  }
  for (const input of [undefined, null, 'plant', 1, [], Object.assign([], { id: 1, name: '' })]) {
    assert.throws(() => parseNewPlant(input), { code: 'invalid_plant', message: /object/ });
  }
});

it('int64FromJsonNumber parses a literal with a million digits', () => {
  const million = 1_000_000;
  assert.equal(int64FromJsonNumber('9'.repeat(million)), undefined);
  assert.equal(int64FromJsonNumber(`1e${'9'.repeat(million)}`), undefined);
  assert.equal(int64FromJsonNumber(`0.${'0'.repeat(million)}1`), undefined);
  assert.equal(int64FromJsonNumber(`${'0'.repeat(million)}1`), 1n);
  assert.equal(int64FromJsonNumber(`1${'0'.repeat(million)}e-${million}`), 1n);
});
