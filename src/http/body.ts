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
