import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from '../../src/cli/lines.ts';
import type { Line } from '../../src/cli/lines.ts';

function split(pieces: readonly Uint8Array[], maxBytes: number): Line[] {
  const splitter = new LineSplitter(maxBytes);
  return [...pieces.flatMap((piece) => [...splitter.push(Buffer.from(piece))]), ...splitter.end()];
}

describe('LineSplitter', () => {
  it('cuts lines in the same places however the bytes arrive, and leaves out those that are too long', () => {
    const byte = fc.constantFrom(0x0a, 0x0d, 0x61, 0xff);
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 20 }).chain((all) => fc.array(byte, { maxLength: all.length })), { maxLength: 12 }), (arrays) => {
      const pieces = arrays.map((each) => Uint8Array.from(each));
      const text = Buffer.concat(pieces).toString('latin1');
      const lines = text.split('\n');
      if (lines.at(-1) === '') lines.pop();
      const expected = lines.map((line, n) => ({ number: n + 1, bytes: line.length > 5 ? undefined : line }));
      const found = split(pieces, 5).map(({ number, bytes }) => ({ number, bytes: bytes?.toString('latin1') }));
      assert.deepEqual(found, expected);
    }));
  });
});
