import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseExactJson } from '../../src/core/model/exact-json.ts';
import { int64FromJsonNumber } from '../../src/core/model/int64.ts';
import { anyBody } from './bodies.ts';
import { maxBodyBytes } from './expectation.ts';
import { idLiteral } from './numbers.ts';
import { int64OfSource, parseWithIdSource } from './reference-plant.ts';

/** Any JSON number, with many zeros and nines. */
const jsonNumber = fc.stringMatching(
  /^-?(0|[159][0159]{0,23})(\.[0159]{1,24})?([eE][+-]?([0-3]?[0-9]|[0159]{1,24}))?$/,
);

/** The service never parses longer bodies, and exact arithmetic on them is slow. */
const sendable = anyBody.filter(({ length }) => length <= maxBodyBytes);

describe('int64FromJsonNumber', () => {
  it('returns the same as exact arithmetic', () => {
    fc.assert(
      fc.property(fc.oneof(jsonNumber, idLiteral.filter(isJsonNumber)), (literal) => {
        assert.equal(int64FromJsonNumber(literal), int64OfSource(literal), literal);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('parseExactJson', () => {
  it('returns the same as JSON.parse with access to the source of the id', () => {
    fc.assert(
      fc.property(sendable, (body) => {
        const text = Buffer.from(body, 'latin1').toString('utf8');
        const expected = parseWithIdSource(text);
        if (expected === undefined) {
          assert.throws(() => parseExactJson(text));
          return;
        }
        const { root, idSource } = expected;
        const parsed = parseExactJson(text);
        if (idSource === undefined) {
          assert.deepEqual(parsed, root);
          return;
        }
        const { id, ...rest } = parsed as { id: number | bigint };
        assert.equal(Number.isNaN(id) ? undefined : BigInt(id), int64OfSource(idSource), idSource.slice(0, 100));
        assert.deepEqual(rest, Object.fromEntries(Object.entries(root as object).filter(([key]) => key !== 'id')));
      }),
      { numRuns: 400 },
    );
  });
});

function isJsonNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
}
