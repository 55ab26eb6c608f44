import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseNewPlant } from '../../../src/core/model/plant.ts';
import { maxInt64, minInt64 } from '../../../src/core/model/int64.ts';

describe('parseNewPlant', () => {
  it('returns a new object with id, name and tag, and ignores unknown fields', () => {
    const input = { id: 1, name: 'Fern', tag: 'indoor', color: 'green' };
    assert.deepEqual(parseNewPlant(input), { id: 1n, name: 'Fern', tag: 'indoor' });
    assert.deepEqual(Object.keys(parseNewPlant({ id: 1, name: 'Fern', tag: undefined })), ['id', 'name']);
  });

  it('rejects any other input, and names the invalid field', () => {
    const idsOutOfRange = ['1', null, true, 1.5, NaN, Infinity, maxInt64 + 1n, minInt64 - 1n];
    const unstorable = ['\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800'];
    const cases: [message: string, inputs: unknown[]][] = [
      [
        'A NewPlant is an object with id, name and, optionally, tag.',
        [undefined, null, 'plant', 1, [], Object.assign([], { id: 1, name: '' })],
      ],
      ['id is required.', [{ name: 'Fern' }]],
      ['name is required.', [{ id: 1 }]],
      ['id must be an integer from -2^63 to 2^63-1.', idsOutOfRange.map((id) => ({ id, name: '' }))],
      [
        'id must be an integer from -2^63 to 2^63-1. Beyond 2^53-1, JavaScript needs a bigint.',
        [{ id: 2 ** 53, name: '' }],
      ],
      ...['name', 'tag'].flatMap((field): [string, unknown[]][] => [
        [`${field} must be a string.`, [null, 7].map((value) => ({ id: 1, name: '', [field]: value }))],
        [
          `${field} must not contain U+0000 or an unpaired surrogate.`,
          unstorable.map((text) => ({ id: 1, name: '', [field]: text })),
        ],
      ]),
    ];
    for (const [message, inputs] of cases) {
      for (const input of inputs) {
        assert.throws(() => parseNewPlant(input), { name: 'PlantStoreError', code: 'invalid_plant', message });
      }
    }
  });
});
