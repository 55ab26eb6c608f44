import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fromColumn, toColumn } from '../../../src/storage/sqlite/text.ts';

const text = fc.string({
  unit: fc.oneof(fc.constantFrom('"', '\\', '\n', '\u0001', '\u007f'), fc.string({ unit: 'binary' })),
});

describe('toColumn and fromColumn', () => {
  it('convert any string to its JSON without the quotes, and back', () => {
    fc.assert(
      fc.property(text, (original) => {
        const column = toColumn(original);
        assert.equal(`"${column}"`, JSON.stringify(original));
        assert.equal(fromColumn(column), original);
      }),
    );
  });
});
