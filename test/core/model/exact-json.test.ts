import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { parseExactJson } from '../../../src/core/model/exact-json.ts';
import { maxInt64, minInt64 } from '../../../src/core/model/plant.ts';

const idOf = (text: string): unknown => (parseExactJson(text) as { id: unknown }).id;
/** Converts an id to a bigint. The parser returns small ids as exact numbers. */
const exactly = (id: unknown): unknown => (typeof id === 'number' ? BigInt(id) : id);

/** Returns `id` with a fraction of `shift` digits and some zeros, and the exponent `shift`. */
function inNotation(id: bigint, shift: number, zeros: number): string {
  const digits = String(id < 0n ? -id : id).padStart(shift + 1, '0');
  const point = digits.length - shift;
  return `${id < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}${'0'.repeat(zeros + 1)}e${shift}`;
}

it('parseExactJson parses any int64 id exactly, in any notation, wherever the object contains it', () => {
  const anyText = fc.string({ unit: 'grapheme' });
  const anyId = fc.bigInt({ min: minInt64, max: maxInt64 });
  const [digits, anyJson] = [fc.nat(25), fc.jsonValue({ maxDepth: 4 })];
  const property = fc.property(anyId, digits, digits, anyText, anyJson, (id, shift, zeros, key, other) => {
    const extra = key === 'id' ? '' : `${JSON.stringify(key)}:${JSON.stringify(other)},`;
    assert.equal(exactly(idOf(`{${extra} "id" : ${inNotation(id, shift, zeros)} ,"name":"Fern"}`)), id);
    assert.equal(exactly(idOf(`{"name":${JSON.stringify(key)},${extra}"id":${id}}`)), id);
  });
  fc.assert(property);
});

it('parseExactJson ignores an id in a nested object or in a string', () => {
  assert.equal(idOf('{"id":9007199254740993,"x":{"id":1.5},"y":[{"id":2}]}'), 9007199254740993n);
  assert.equal(idOf('{"name":"\\",\\"id\\":7","id":2.0}'), 2n);
  assert.equal(idOf('{"x":{"id":9007199254740993}}'), undefined);
  assert.equal(idOf('[{"id":1.0}]'), undefined);
});

it('parseExactJson returns NaN for a fraction that JSON.parse rounds to an integer', () => {
  for (const id of ['1e-400', '9007199254740990.5', '90071992547409905E-1']) {
    assert.deepEqual(idOf(`{"id":${id}}`), NaN);
  }
});

it('parseExactJson uses the last of two ids, like JSON.parse, even if its name is escaped', () => {
  assert.equal(idOf('{"id":1.0,"id":9007199254740993}'), 9007199254740993n);
  assert.equal(idOf('{"id":9007199254740993,"\\u0069d":1.0}'), 1n);
  assert.equal(idOf('{"id":9007199254740993,"id":"text"}'), 'text');
  assert.deepEqual(idOf('{"id":1.0,"id":[1.0]}'), [1]);
});
