import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '../model/errors.ts';
import { parseExactJson } from '../model/exact-json.ts';
import type { ServiceRequest } from './service-request.ts';

/** The bounds of a request body. */
export interface BodyLimits {
  /** The maximum size of a body in bytes. */
  readonly maxBodyBytes: number;
  /** How many levels its arrays and objects may nest. */
  readonly maxBodyDepth: number;
}

/**
 * Reads a JSON body; the top-level member `id` is exact (see `parseExactJson`).
 *
 * @throws {PlantStoreError} `invalid_media_type`, `body_too_large`, `invalid_json`, or
 *   `malformed_request` if the client goes away before the end.
 */
export async function readJsonBody(request: ServiceRequest, limits: BodyLimits): Promise<unknown> {
  checkMediaType(request);
  const body = request.readBody(limits.maxBodyBytes);
  const bytes = body instanceof Promise ? await body : body;
  if (!isUtf8(bytes)) throw new PlantStoreError('invalid_json');
  return parseExactJson(bytes.toString('utf8'), limits.maxBodyDepth);
}

/**
 * JSON is UTF-8 (RFC 8259 §8.1), so another charset or a content coding is an error. A comma joins the values of a
 * header that was sent twice: two parsers could choose different ones.
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
