import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '../model/errors.ts';
import { parseExactJson } from '../model/exact-json.ts';
import { HttpError } from './http-error.ts';
import type { ServiceRequest } from './service-request.ts';
import { UserTotals } from './user-totals.ts';

/** The default of `maxReceivedBytes`. If 16 times `maxBodyBytes` is more, that is the default instead. */
const minReceivedBytes = 67_108_864;

/** The share of `maxReceivedBytes` that one user's bodies may use. */
const userShare = 1 / 4;

/**
 * Reads JSON bodies. The memory for bodies that are being received is limited to `maxReceivedBytes`, because clients
 * may send bodies slowly.
 */
export class JsonBodyReader {
  readonly #maxBodyBytes: number;
  readonly #maxReceivedBytes: number;
  readonly #received = new UserTotals();

  constructor(maxBodyBytes: number, maxReceivedBytes: number = Math.max(minReceivedBytes, 16 * maxBodyBytes)) {
    this.#maxBodyBytes = maxBodyBytes;
    this.#maxReceivedBytes = maxReceivedBytes;
  }

  /**
   * Reads and parses the JSON body of a user's request. The value of the top-level `id` member is exact (see
   * `parseExactJson`).
   *
   * @throws {HttpError} `invalid_media_type`, `body_too_large` or `invalid_json` if the service rejects the body;
   *   `malformed_request` if the client disconnects before the end of the body.
   * @throws {PlantStoreError} `saturated` if too many bodies are being received.
   */
  async read(request: ServiceRequest, user: string): Promise<unknown> {
    checkMediaType(request);
    let reserved = 0;
    try {
      const body = request.readBody(this.#maxBodyBytes, (bytes) => {
        reserved = this.#reserve(user, bytes);
      });
      const bytes = body instanceof Promise ? await body : body;
      return parseBody(bytes);
    } finally {
      if (reserved > 0) this.#received.add(user, -reserved);
    }
  }

  #reserve(user: string, bytes: number): number {
    const isOver = this.#received.all + bytes > this.#maxReceivedBytes;
    const isOverShare = this.#received.of(user) + bytes > this.#maxReceivedBytes * userShare;
    if (isOver || isOverShare) throw new PlantStoreError('saturated');
    this.#received.add(user, bytes);
    return bytes;
  }
}

function parseBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new HttpError('invalid_json');
  try {
    return parseExactJson(bytes.toString('utf8'));
  } catch (cause) {
    throw new HttpError('invalid_json', cause instanceof RangeError ? cause.message : undefined, { cause });
  }
}

/**
 * Checks that the headers declare a JSON body in UTF-8 (RFC 8259 §8.1) without a content coding. Rejects a
 * `Content-Type` that contains a comma: such a header was sent twice, and different parsers may use different values.
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
