import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '../model/errors.ts';
import { parseExactJson } from '../model/exact-json.ts';
import type { ServiceRequest } from './service-request.ts';
import { UserTotals } from './user-totals.ts';

/** The maximum total size of the bodies that are being received, or 16 times `maxBodyBytes` if that is more. */
const maxReceivedBytes = 67_108_864;

/** The share of that maximum that the bodies of one user may use. */
const userShare = 1 / 4;

/** The limits for a request body. */
export interface BodyLimits {
  /** The maximum size of a body in bytes. */
  readonly maxBodyBytes: number;
  /** The maximum nesting depth of arrays and objects in a body. */
  readonly maxBodyDepth: number;
}

/** Reads bodies. Limits the memory for bodies that are being received, because clients may send them slowly. */
export class JsonBodyReader {
  readonly #limits: BodyLimits;
  readonly #maxBytes: number;
  readonly #received = new UserTotals();

  constructor(limits: BodyLimits, maxBytes: number = Math.max(maxReceivedBytes, 16 * limits.maxBodyBytes)) {
    this.#limits = limits;
    this.#maxBytes = maxBytes;
  }

  /**
   * Reads the JSON body of a user's request. The top-level member `id` is exact (see `parseExactJson`).
   *
   * @throws {PlantStoreError} `invalid_media_type`, `body_too_large`, `invalid_json`, `saturated` if too many bodies are
   *   being received, or `malformed_request` if the client disconnects before the end.
   */
  async read(request: ServiceRequest, user: string): Promise<unknown> {
    checkMediaType(request);
    const { maxBodyBytes, maxBodyDepth } = this.#limits;
    let reserved = 0;
    try {
      const body = request.readBody(maxBodyBytes, (bytes) => {
        reserved = this.#reserve(user, bytes);
      });
      const bytes = body instanceof Promise ? await body : body;
      if (!isUtf8(bytes)) throw new PlantStoreError('invalid_json');
      return parseExactJson(bytes.toString('utf8'), maxBodyDepth);
    } finally {
      if (reserved > 0) this.#received.add(user, -reserved);
    }
  }

  #reserve(user: string, bytes: number): number {
    const isOver = this.#received.all + bytes > this.#maxBytes;
    if (isOver || this.#received.of(user) + bytes > this.#maxBytes * userShare) throw new PlantStoreError('saturated');
    this.#received.add(user, bytes);
    return bytes;
  }
}

/**
 * Checks that a body is declared as JSON in UTF-8 (RFC 8259 §8.1) without a content coding. Rejects a header value with
 * a comma: the header was sent twice, and parsers may choose different values.
 */
function checkMediaType(request: ServiceRequest): void {
  const contentType = request.header('content-type') ?? '';
  const coding = request.header('content-encoding');
  if (contentType === 'application/json' && coding === undefined) return;
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  const isJson = /^application\/json\s*(?:;|$)/i.test(contentType) && !contentType.includes(',');
  if (!isJson || !/^utf-?8$/i.test(charset) || (coding?.toLowerCase() ?? 'identity') !== 'identity') {
    throw new PlantStoreError('invalid_media_type');
  }
}
