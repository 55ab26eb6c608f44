import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readLines } from '../../../src/tools/cli/plant-lines.ts';
import type { Line } from '../../../src/tools/cli/plant-lines.ts';

async function split(pieces: readonly Uint8Array[], maxBytes: number): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const some of readLines(Readable.from(pieces.map((piece) => Buffer.from(piece))), maxBytes)) {
    lines.push(...some);
  }
  return lines;
}

describe('readLines', () => {
  it('splits lines independently of how the bytes arrive, and omits the bytes of lines that are too long', async () => {
    const byte = fc.constantFrom(0x0a, 0x0d, 0x61, 0xff);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(byte, { maxLength: 20 }), { maxLength: 12 }), async (arrays) => {
        const pieces = arrays.map((each) => Uint8Array.from(each));
        const text = Buffer.concat(pieces).toString('latin1');
        const lines = text.split('\n');
        if (lines.at(-1) === '') lines.pop();
        const expected = lines.map((line, n) => ({ number: n + 1, bytes: line.length > 5 ? undefined : line }));
        const found = await split(pieces, 5);
        assert.deepEqual(
          found.map(({ number, bytes }) => ({ number, bytes: bytes?.toString('latin1') })),
          expected,
        );
      }),
    );
  });
});
