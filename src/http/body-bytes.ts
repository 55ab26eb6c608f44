import { HttpError } from './http-error.ts';

/**
 * How many bytes of a body past its maximum size are read and discarded. If the connection were closed at once, the
 * client might not receive the error response.
 */
export const maxDrainedBytes = 1_048_576;

/**
 * Each discarded chunk counts as at least this many bytes, because small chunks are expensive: 6 MB of one-byte chunks
 * took 1.7 s of CPU time.
 */
const minDrainedChunkBytes = 64;

/** Collects the chunks of a body up to a maximum size. Chunks past the maximum are counted and discarded. */
export class BodyBytes {
  readonly #maxBytes: number;
  readonly #expected: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** `expected` is the size in the `Content-Length` header, or `maxBytes` if the request does not have this header. */
  constructor(maxBytes: number, expected: number) {
    this.#maxBytes = maxBytes;
    this.#expected = expected;
  }

  /**
   * Adds a chunk. Returns `false` if the body exceeds the maximum by more than {@link maxDrainedBytes}. The rest of the
   * body must then not be read.
   */
  add(chunk: Buffer): boolean {
    if (this.#length + chunk.length <= this.#maxBytes) {
      this.#append(chunk);
      return true;
    }
    this.#length += Math.max(chunk.length, minDrainedChunkBytes);
    return this.#length <= this.#maxBytes + maxDrainedBytes;
  }

  /** Returns the body, or the error `body_too_large` if the body exceeds the maximum size. */
  result(): Buffer | HttpError {
    if (this.#length > this.#maxBytes) return tooLarge(this.#maxBytes);
    return this.#bytes.subarray(0, this.#length);
  }

  /** Appends a chunk to the buffer. If the chunks themselves were kept, 64 KiB of one-byte chunks would use 27 MiB. */
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
