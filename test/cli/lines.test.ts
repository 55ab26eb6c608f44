import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from '../../src/cli/lines.ts';
import type { Line } from '../../src/cli/lines.ts';

function split(pieces: readonly Uint8Array[], maxBytes: number): Line[] {
  const splitter = new LineSplitter(maxBytes);
  return [...pieces.flatMap((piece) => [...splitter.push(Buffer.from(piece))]), ...splitter.end()];
}

describe('LineSplitter', () => {
  it('splits lines independently of how the bytes arrive, and omits the bytes of lines that are too long', () => {
    const byte = fc.constantFrom(0x0a, 0x0d, 0x61, 0xff);
    fc.assert(
      fc.property(
        fc.array(
          fc.uint8Array({ maxLength: 20 }).chain((all) => fc.array(byte, { maxLength: all.length })),
          { maxLength: 12 },
        ),
        (arrays) => {
          const pieces = arrays.map((each) => Uint8Array.from(each));
          const text = Buffer.concat(pieces).toString('latin1');
          const lines = text.split('\n');
          if (lines.at(-1) === '') lines.pop();
          const expected = lines.map((line, n) => ({ number: n + 1, bytes: line.length > 5 ? undefined : line }));
          const found = split(pieces, 5).map(({ number, bytes }) => ({ number, bytes: bytes?.toString('latin1') }));
          assert.deepEqual(found, expected);
        },
      ),
    );
  });

  it('keeps at most maxBytes of a line that does not end', async () => {
    const splitter = new LineSplitter(1000);
    const before = process.memoryUsage().arrayBuffers;
    for (let n = 0; n < 512; n++) {
      assert.deepEqual([...splitter.push(Buffer.alloc(2 ** 20))], []);
      await nextTurn();
    }
    const heldMiB = (process.memoryUsage().arrayBuffers - before) / 2 ** 20;
    assert.ok(heldMiB < 300, `${heldMiB} of 512 MiB`);
    assert.deepEqual([...splitter.end()], [{ number: 1, bytes: undefined }]);
  });
});
