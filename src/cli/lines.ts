/** A line of input. */
export interface Line {
  /** The line number, counted from 1. */
  readonly number: number;
  /** The bytes of the line without its terminator; `undefined` if the line is longer than `maxBytes`. */
  readonly bytes: Buffer | undefined;
}

const newLine = 0x0a;

/** Splits a stream of bytes into lines. Buffers at most `maxBytes` bytes of a line. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #number = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a chunk of the stream. Yields the lines that end in this chunk. */
  *push(piece: Buffer): Generator<Line, void, undefined> {
    let start = 0;
    for (let end; (end = piece.indexOf(newLine, start)) !== -1; start = end + 1) {
      this.#take(piece.subarray(start, end));
      yield this.#finish();
    }
    this.#take(piece.subarray(start));
  }

  /** Ends the stream. Yields the last line if it has no terminator. */
  *end(): Generator<Line, void, undefined> {
    if (this.#length > 0) yield this.#finish();
  }

  #take(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#maxBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #finish(): Line {
    const [first, ...others] = this.#pieces;
    const bytes = first !== undefined && others.length === 0 ? first : Buffer.concat(this.#pieces);
    const line = { number: ++this.#number, bytes: this.#length > this.#maxBytes ? undefined : bytes };
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}
