import { isUtf8 } from 'node:buffer';
import { parseExactJson } from '../core/model/exact-json.ts';
import { HttpError } from './exchange.ts';
import type { ServiceRequest } from './exchange.ts';

/** Keeps the `id` exact: see `parseExactJson`. */
export async function readJson(request: ServiceRequest, maxBytes: number): Promise<unknown> {
  checkMediaType(request);
  const bytes = await request.readBody(maxBytes);
  if (!isUtf8(bytes)) throw new HttpError('invalid_json');
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch (cause) {
    throw new HttpError('invalid_json', undefined, { cause });
  }
}

/** Checks that the headers declare a JSON body in UTF-8 (RFC 8259 §8.1) without a content coding. */
function checkMediaType(request: ServiceRequest): void {
  const contentType = request.header('content-type') ?? '';
  const coding = request.header('content-encoding') ?? 'identity';
  const isJson = /^application\/json\s*(?:;|$)/i.test(contentType);
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  if (isJson && /^utf-?8$/i.test(charset) && coding.toLowerCase() === 'identity') return;
  throw new HttpError('invalid_media_type');
}

/** Collects the chunks of a body in one buffer. Separate one-byte chunks would need 400 times their size. */
export class BodyBytes {
  readonly #maxBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @throws {HttpError} `body_too_large` if `announced`, the value of `Content-Length`, exceeds `maxBytes`. */
  constructor(maxBytes: number, announced: string | undefined) {
    this.#maxBytes = maxBytes;
    if (Number(announced ?? 0) > maxBytes) throw this.#tooLarge();
  }

  get all(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add(chunk: Buffer): HttpError | undefined {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) return this.#tooLarge();
    if (length > this.#bytes.length) {
      const roomy = Buffer.allocUnsafe(Math.min(this.#maxBytes, 2 * length));
      this.#bytes.copy(roomy, 0, 0, this.#length);
      this.#bytes = roomy;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    return undefined;
  }

  #tooLarge(): HttpError {
    return new HttpError('body_too_large', `The body is over ${this.#maxBytes} bytes.`);
  }
}
