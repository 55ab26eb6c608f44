/** A line of input. */
export interface Line {
  /** The line number, counted from 1. */
  readonly number: number;
  /** The bytes of the line without its terminator; `undefined` if the line is longer than `maxBytes`. */
  readonly bytes: Buffer | undefined;
}

const newLine = 0x0a;

/**
 * Splits a stream of bytes into lines. Yields the lines that end in each chunk of the stream, and finally the last line
 * if it has no terminator. Buffers at most `maxBytes` bytes of a line.
 */
export async function* readLines(
  input: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line[], void, undefined> {
  let number = 0;
  let pieces: Buffer[] = [];
  let length = 0;

  function add(piece: Buffer): void {
    length += piece.length;
    if (length > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  }

  function endLine(): Line {
    const line = { number: ++number, bytes: length > maxBytes ? undefined : Buffer.concat(pieces) };
    pieces = [];
    length = 0;
    return line;
  }

  for await (const chunk of input) {
    const lines: Line[] = [];
    let start = 0;
    for (let end; (end = chunk.indexOf(newLine, start)) !== -1; start = end + 1) {
      add(chunk.subarray(start, end));
      lines.push(endLine());
    }
    add(chunk.subarray(start));
    yield lines;
  }
  if (length > 0) yield [endLine()];
}
