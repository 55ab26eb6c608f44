import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { parseExactJson } from '../../../src/core/model/exact-json.ts';
import { maxInt64, minInt64 } from '../../../src/core/model/plant.ts';

const idOf = (text: string): unknown => (parseExactJson(text) as { id: unknown }).id;
/** Converts an id to a bigint. The parser returns small ids as exact numbers. */
const exactly = (id: unknown): unknown => (typeof id === 'number' ? BigInt(id) : id);

it('parseExactJson parses any int64 id exactly, wherever the object contains it', () => {
  const anyText = fc.string({ unit: 'grapheme' });
  const anyId = fc.bigInt({ min: minInt64, max: maxInt64 });
  fc.assert(
    fc.property(anyId, anyText, anyText, fc.jsonValue({ maxDepth: 4 }), (id, name, key, other) => {
      const extra = key === 'id' ? '' : `${JSON.stringify(key)}:${JSON.stringify(other)},`;
      assert.equal(exactly(idOf(`{${extra} "id" : ${id} ,"name":${JSON.stringify(name)}}`)), id);
      assert.equal(exactly(idOf(`{"name":${JSON.stringify(name)},${extra}"id":${id}}`)), id);
    }),
  );
});

it('parseExactJson ignores a nested id and one in a string', () => {
  assert.equal(idOf('{"id":9007199254740993,"x":{"id":1.5},"y":[{"id":2}]}'), 9007199254740993n);
  assert.equal(idOf('{"name":"\\",\\"id\\":7","id":2.0}'), 2n);
  assert.equal(idOf('{"x":{"id":9007199254740993}}'), undefined);
  assert.equal(idOf('[{"id":1.0}]'), undefined);
});

it('parseExactJson uses the last of two ids, like JSON.parse, even if its name is escaped', () => {
  assert.equal(idOf('{"id":1.0,"id":9007199254740993}'), 9007199254740993n);
  assert.equal(idOf('{"id":9007199254740993,"\\u0069d":1.0}'), 1n);
  assert.equal(idOf('{"id":9007199254740993,"id":"text"}'), 'text');
  assert.deepEqual(idOf('{"id":1.0,"id":[1.0]}'), [1]);
});
