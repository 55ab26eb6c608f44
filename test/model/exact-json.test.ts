import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseExactJson } from '../../src/model/exact-json.ts';
import { maxInt64, minInt64 } from '../../src/model/int64.ts';

const maxDepth = 256;
const parse = parseExactJson;
const idOf = (text: string): unknown => (parse(text) as { id: unknown }).id;
/** A small id may stay a number, where that is exact. */
const exactly = (id: unknown): unknown => (typeof id === 'number' ? BigInt(id) : id);

describe('parseExactJson', () => {
  it('gives any int64 exactly, wherever it stands', () => {
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

  it('is JSON.parse for everything but the top-level id', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const expected: unknown = JSON.parse(text);
        if (typeof expected === 'object' && expected !== null && 'id' in expected) return;
        assert.deepEqual(parse(text), expected);
      }),
    );
  });

  it('tells ids apart that a double cannot', () => {
    assert.equal(idOf('{"id":9007199254740993}'), 9007199254740993n);
    assert.equal(idOf('{"id":9007199254740992}'), 9007199254740992n);
    assert.equal(idOf('{"id":-9223372036854775808}'), minInt64);
  });

  it('takes integral values in every spelling and no others', () => {
    assert.equal(idOf('{"id":1.0}'), 1n);
    assert.equal(idOf('{"id":1e3}'), 1000n);
    for (const literal of ['1.5', '1.00000000000000000001', '9223372036854775808', '1e400', '1'.repeat(60_000)]) {
      assert.equal(idOf(`{"id":${literal}}`), NaN, literal);
    }
  });

  it('does not take a nested id, or one in a string, for the id', () => {
    assert.equal(idOf('{"id":9007199254740993,"x":{"id":1.5},"y":[{"id":2}]}'), 9007199254740993n);
    assert.equal(idOf('{"x":{"id":1.5},"id":2}'), 2n);
    assert.equal(idOf('{"name":"\\",\\"id\\":7","id":2.0}'), 2n);
    assert.equal(idOf('{"x":{"id":9007199254740993}}'), undefined);
    assert.equal(idOf('[{"id":1.0}]'), undefined);
  });

  it('takes the last of two ids, however its name is spelled, as JSON.parse does', () => {
    assert.equal(idOf('{"id":1.0,"id":9007199254740993}'), 9007199254740993n);
    assert.equal(idOf('{"id":9007199254740993,"\\u0069d":1.0}'), 1n);
    assert.equal(idOf('{"id":9007199254740993,"id":"text"}'), 'text');
    assert.deepEqual(idOf('{"id":1.0,"id":[1.0]}'), [1]);
  });

  it('refuses what is not JSON', () => {
    for (const text of [
      '',
      '{',
      '{"id":1.0',
      '{id:1}',
      '{"id":01}',
      "{'id':1}",
      '{"id":1}x',
      'NaN',
      '\uFEFF{"id":1}',
      '{"id":0x1}',
    ]) {
      assert.throws(() => parse(text), SyntaxError, text);
    }
  });

  it('nests up to the bound and not one level deeper', () => {
    const nested = (levels: number): string => `{"id":1,"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    assert.equal(idOf(nested(maxDepth)), 1n);
    assert.throws(() => parse(nested(maxDepth + 1)), { name: 'RangeError', message: /256 levels/ });
    assert.throws(() => parse(nested(1_000_000)), RangeError);
  });
});
