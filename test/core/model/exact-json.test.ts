import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseExactJson } from '../../../src/core/model/exact-json.ts';
import { maxInt64, minInt64 } from '../../../src/core/model/int64.ts';

const parse = parseExactJson;
const idOf = (text: string): unknown => (parse(text) as { id: unknown }).id;
/** Converts an id that may be a number, if that is exact, to a bigint. */
const exactly = (id: unknown): unknown => (typeof id === 'number' ? BigInt(id) : id);

describe('parseExactJson', () => {
  it('parses any int64 exactly, at any position of the object', () => {
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

  it('equals JSON.parse, except for the top-level id', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const expected: unknown = JSON.parse(text);
        if (typeof expected === 'object' && expected !== null && 'id' in expected) return;
        assert.deepEqual(parse(text), expected);
      }),
    );
  });

  it('distinguishes ids that are equal as doubles', () => {
    assert.equal(idOf('{"id":9007199254740993}'), 9007199254740993n);
    assert.equal(idOf('{"id":9007199254740992}'), 9007199254740992n);
    assert.equal(idOf('{"id":-9223372036854775808}'), minInt64);
  });

  it('accepts integral values in every notation, and returns NaN for other numbers', () => {
    assert.equal(idOf('{"id":1.0}'), 1n);
    assert.equal(idOf('{"id":1e3}'), 1000n);
    for (const literal of ['1.5', '1.00000000000000000001', '9223372036854775808', '1e400', '1'.repeat(60_000)]) {
      assert.equal(idOf(`{"id":${literal}}`), NaN, literal);
    }
  });

  it('ignores a nested id and one in a string', () => {
    assert.equal(idOf('{"id":9007199254740993,"x":{"id":1.5},"y":[{"id":2}]}'), 9007199254740993n);
    assert.equal(idOf('{"x":{"id":1.5},"id":2}'), 2n);
    assert.equal(idOf('{"name":"\\",\\"id\\":7","id":2.0}'), 2n);
    assert.equal(idOf('{"x":{"id":9007199254740993}}'), undefined);
    assert.equal(idOf('[{"id":1.0}]'), undefined);
  });

  it('uses the last of two ids, like JSON.parse, even if its name is escaped', () => {
    assert.equal(idOf('{"id":1.0,"id":9007199254740993}'), 9007199254740993n);
    assert.equal(idOf('{"id":9007199254740993,"\\u0069d":1.0}'), 1n);
    assert.equal(idOf('{"id":9007199254740993,"id":"text"}'), 'text');
    assert.deepEqual(idOf('{"id":1.0,"id":[1.0]}'), [1]);
  });

  it('rejects text that is not JSON', () => {
    const objects = ['{', '{"id":1.0', '{id:1}', '{"id":01}', "{'id':1}", '{"id":1}x', '{"id":0x1}', '\uFEFF{"id":1}'];
    for (const text of [...objects, '', 'NaN']) {
      assert.throws(() => parse(text), SyntaxError, text);
    }
  });

  it('accepts nesting that fits on the stack, and rejects any other with a RangeError', () => {
    const nested = (id: string, levels: number): string =>
      `{"id":${id},"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    assert.equal(idOf(nested('1.0', 1000)), 1n);
    assert.equal(exactly(idOf(nested('1', 30_000))), 1n);
    assert.throws(() => parse(nested('1.0', 1_000_000)), RangeError);
  });
});
