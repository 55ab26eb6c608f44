/** A line without its end, as bytes. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** `undefined` where the line is too long to be kept. */
  readonly bytes: Buffer | undefined;
}

const newLine = 0x0a;

/** Cuts bytes that arrive in pieces into lines, and holds no more than `maxBytes` of one. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;
  #number = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in this piece. */
  *push(piece: Buffer): Generator<Line, void, undefined> {
    let start = 0;
    for (let end; (end = piece.indexOf(newLine, start)) !== -1; start = end + 1) {
      this.#take(piece.subarray(start, end));
      yield this.#finish();
    }
    this.#take(piece.subarray(start));
  }

  /** What is behind the last end of a line, if anything. */
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
