import { HttpError } from './http-error.ts';

/** How much of a refused body is read and discarded, so that the client receives the error response. */
export const maxDrainedBytes = 1_048_576;

/** Past the maximum, a chunk counts as at least this many bytes: 6 MB of one-byte chunks took 1.7 s of CPU time. */
const minDrainedChunkBytes = 64;

/** Collects the chunks of a body up to a maximum size. Chunks past the maximum are counted and discarded. */
export class BodyBytes {
  readonly #maxBytes: number;
  readonly #expected: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** `expected` is the size that the request announces, or `maxBytes` if it announces none. */
  constructor(maxBytes: number, expected: number) {
    this.#maxBytes = maxBytes;
    this.#expected = expected;
  }

  /** Adds a chunk. Returns `false` if the body is so large that the rest of it must not be read. */
  add(chunk: Buffer): boolean {
    if (this.#length + chunk.length <= this.#maxBytes) {
      this.#append(chunk);
      return true;
    }
    this.#length += Math.max(chunk.length, minDrainedChunkBytes);
    return this.#length <= this.#maxBytes + maxDrainedBytes;
  }

  /** Returns the body, or an error `body_too_large` if it exceeds the maximum. */
  result(): Buffer | HttpError {
    if (this.#length > this.#maxBytes) return tooLarge(this.#maxBytes);
    return this.#bytes.subarray(0, this.#length);
  }

  /** Copies a chunk. The chunks themselves are not kept, because 64 KiB of one-byte chunks would use 27 MiB. */
  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (needed > this.#bytes.length) this.#grow(needed);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = needed;
  }

  #grow(needed: number): void {
    const roomy = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * needed, this.#expected)));
    this.#bytes.copy(roomy, 0, 0, this.#length);
    this.#bytes = roomy;
  }
}

/** Returns the error for a body that exceeds the maximum size. */
export function tooLarge(maxBytes: number): HttpError {
  return new HttpError('body_too_large', `The body is over ${maxBytes} bytes.`);
}
