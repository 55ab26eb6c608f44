import { HttpError } from './http-error.ts';

/**
 * The maximum number of bytes to read and discard after a body has exceeded its maximum size. If the connection were
 * closed immediately, the client might not receive the error response.
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

  /** `expected` is the size in the `Content-Length` header, or `maxBytes` if this header is missing. */
  constructor(maxBytes: number, expected: number) {
    this.#maxBytes = maxBytes;
    this.#expected = expected;
  }

  /**
   * Adds a chunk. Returns `false` if the body exceeds its maximum size by more than {@link maxDrainedBytes}. In this
   * case, the caller must not read the rest of the body.
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

  /**
   * Appends a chunk to the buffer. Keeping the chunks as separate objects would use more memory: 27 MiB for 64 KiB of
   * one-byte chunks.
   */
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
