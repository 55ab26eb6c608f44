import { isUtf8 } from 'node:buffer';
import { parseExactJson } from '../core/model/exact-json.ts';
import { HttpError } from './http-error.ts';
import type { ServiceRequest } from './service-request.ts';

/**
 * Reads and parses the JSON body of a request. The value of the top-level `id` member is parsed exactly (see
 * `parseExactJson`).
 *
 * @throws {HttpError} `invalid_media_type`, `body_too_large` or `invalid_json` if the service rejects the body;
 *   `malformed_request` if the client disconnects before the end of the body.
 */
export async function readJsonBody(request: ServiceRequest, maxBytes: number): Promise<unknown> {
  checkMediaType(request);
  const bytes = await request.readBody(maxBytes);
  if (!isUtf8(bytes)) throw new HttpError('invalid_json');
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch (cause) {
    throw new HttpError('invalid_json', undefined, { cause });
  }
}

/**
 * Checks that the headers declare a JSON body in UTF-8 (RFC 8259 §8.1) without a content coding. Rejects a
 * `Content-Type` that contains a comma, because such a header was sent twice, and parsers might disagree about which
 * value to use.
 */
function checkMediaType(request: ServiceRequest): void {
  const contentType = request.header('content-type') ?? '';
  const coding = request.header('content-encoding');
  if (contentType === 'application/json' && coding === undefined) return;
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  const isJson = /^application\/json\s*(?:;|$)/i.test(contentType) && !contentType.includes(',');
  if (!isJson || !/^utf-?8$/i.test(charset) || (coding?.toLowerCase() ?? 'identity') !== 'identity') {
    throw new HttpError('invalid_media_type');
  }
}

/** Collects the chunks of a body. */
export class BodyBytes {
  readonly #maxBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /**
   * `announced` is the value of the `Content-Length` header.
   *
   * @throws {HttpError} `body_too_large` if this value exceeds `maxBytes`.
   */
  constructor(maxBytes: number, announced: string | undefined) {
    this.#maxBytes = maxBytes;
    if (Number(announced ?? 0) > maxBytes) throw this.tooLarge();
  }

  /** All added chunks as one buffer. */
  get all(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /**
   * Appends a chunk to the buffer. Keeping the chunks as separate objects would use more memory: 27 MiB for 64 KiB of
   * one-byte chunks.
   *
   * @returns `false` if the body exceeds its maximum size.
   */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) return false;
    if (length > this.#bytes.length) {
      const roomy = Buffer.allocUnsafe(Math.min(this.#maxBytes, 2 * length));
      this.#bytes.copy(roomy, 0, 0, this.#length);
      this.#bytes = roomy;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    return true;
  }

  tooLarge(): HttpError {
    return new HttpError('body_too_large', `The body is over ${this.#maxBytes} bytes.`);
  }
}
