import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readLines } from '../../../src/tools/cli/plant-lines.ts';

describe('readLines', () => {
  it('splits lines correctly however the bytes are chunked, and omits the bytes of overlong lines', async () => {
    const byte = fc.constantFrom(0x0a, 0x0d, 0x61, 0xff);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(byte, { maxLength: 20 }), { maxLength: 12 }), async (arrays) => {
        const pieces = arrays.map((each) => Buffer.from(each));
        const text = Buffer.concat(pieces).toString('latin1');
        const lines = text.split('\n');
        if (lines.at(-1) === '') lines.pop();
        const expected = lines.map((line, n) => ({ number: n + 1, bytes: line.length > 5 ? undefined : line }));
        const found: unknown[] = [];
        for await (const some of readLines(Readable.from(pieces), 5)) {
          found.push(...some.map(({ number, bytes }) => ({ number, bytes: bytes?.toString('latin1') })));
        }
        assert.deepEqual(found, expected);
      }),
    );
  });
});
