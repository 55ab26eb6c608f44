import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlantStoreError } from '../../model/errors.ts';
import { parseExactJson } from '../../model/exact-json.ts';
import { countHeader } from './validation.ts';

/** The bounds of a request body. */
export interface BodyLimits {
  /** The most bytes a body may have. */
  readonly maxBodyBytes: number;
  /** How many levels its arrays and objects may nest. */
  readonly maxBodyDepth: number;
}

/** How much of a body is read for nothing, so that the client gets to see why it was refused. */
const maxDrainedBytes = 1_048_576;

/** Past the maximum a chunk counts as this many bytes at least: 6 MB of one-byte chunks took 1.7 s of CPU. */
const minDrainedChunkBytes = 64;

const continueOwed = new WeakMap<IncomingMessage, ServerResponse>();

/** Leaves `100 Continue` to be sent when the body of a request is wanted (RFC 9110 §10.1.1). */
export function oweContinue(request: IncomingMessage, response: ServerResponse): void {
  continueOwed.set(request, response);
}

function isBodyAnnounced({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/**
 * Reads a JSON body; the top-level member `id` is exact (see `parseExactJson`).
 *
 * @throws {PlantStoreError} `invalid_media_type`, `body_too_large`, `invalid_json`, or
 *   `malformed_request` where the client goes away before the end.
 */
export async function readJsonBody(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  checkMediaType(request);
  if (request.readableDidRead) {
    throw new Error('The request body was read before the listener got it: mount it before any body parser.');
  }
  const bytes = readArrived(request, limits.maxBodyBytes) ?? (await readAnnounced(request, limits.maxBodyBytes));
  if (!isUtf8(bytes)) throw new PlantStoreError('invalid_json');
  return parseExactJson(bytes.toString('utf8'), limits.maxBodyDepth);
}

/**
 * Waits for the end of a body that means nothing (RFC 9110 §9.3.5): a request takes effect when all
 * of it is there.
 *
 * @throws {PlantStoreError} `body_too_large`; `malformed_request` as {@link readJsonBody}.
 */
export async function discardBody(request: IncomingMessage, { maxBodyBytes }: BodyLimits): Promise<void> {
  if (!request.complete && isBodyAnnounced(request)) await readAnnounced(request, maxBodyBytes);
}

/**
 * Whether more of a request's body may be to come than is worth reading for nothing: the connection
 * is then closed behind the answer. Node reads what is left of any other body by itself.
 */
export function hasEndlessBody(request: IncomingMessage, maxBytes: number): boolean {
  if (request.complete) return false;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || Number(length ?? 0) > maxBytes + maxDrainedBytes;
}

/** JSON is UTF-8 (RFC 8259 §8.1), so another charset or a content coding cannot be meant. */
function checkMediaType(request: IncomingMessage): void {
  const { headers } = request;
  if (countHeader(request, 'content-type') !== 1) throw new PlantStoreError('invalid_media_type');
  const contentType = headers['content-type'] ?? '';
  if (contentType === 'application/json' && headers['content-encoding'] === undefined) return;
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (!/^application\/json\s*(?:;|$)/i.test(contentType) || !/^utf-?8$/i.test(charset) || coding !== 'identity') {
    throw new PlantStoreError('invalid_media_type');
  }
}

/** The body, where all of it came along with the header, as most do: without a listener or a promise. */
function readArrived(request: IncomingMessage, maxBytes: number): Buffer | null {
  const length = request.readableLength;
  if (length > maxBytes || length !== Number(request.headers['content-length']) || continueOwed.has(request)) return null;
  return request.read() as Buffer | null;
}

/** A client that asked whether to send a body is told, unless it said already that it is too large. */
function readAnnounced(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const response = continueOwed.get(request);
  if (response !== undefined && Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  response?.writeContinue();
  return readBytes(request, maxBytes);
}

/** By events: `for await` on a request costs an eighth to a quarter of the whole request's CPU. */
function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    let length = 0;
    const onData = (chunk: Buffer): void => {
      if (length + chunk.length <= maxBytes) {
        bytes = withChunk(bytes, length, chunk);
        length += chunk.length;
        return;
      }
      length += Math.max(chunk.length, minDrainedChunkBytes);
      if (length > maxBytes + maxDrainedBytes) settle(() => { reject(tooLarge(maxBytes)); });
    };
    const onEnd = (): void => {
      settle(() => {
        if (length > maxBytes) reject(tooLarge(maxBytes));
        else resolve(bytes.subarray(0, length));
      });
    };
    // Without this a client that goes away would leave the promise unsettled for ever.
    const onClose = (): void => {
      settle(() => { reject(new PlantStoreError('malformed_request')); });
    };
    const settle = (outcome: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      outcome();
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    if (request.destroyed) onClose();
  });
}

/**
 * A buffer with the first `length` of `bytes` and the chunk behind them. The chunks themselves are
 * not kept: 64 KiB that come a byte at a time would take 27 MiB.
 */
function withChunk(bytes: Buffer, length: number, chunk: Buffer): Buffer {
  if (length === 0) return chunk;
  const needed = length + chunk.length;
  const roomy = needed <= bytes.length ? bytes : Buffer.allocUnsafe(2 * needed);
  if (roomy !== bytes) bytes.copy(roomy, 0, 0, length);
  chunk.copy(roomy, length);
  return roomy;
}

function tooLarge(maxBytes: number): PlantStoreError {
  return new PlantStoreError('body_too_large', `The body is over ${maxBytes} bytes.`);
}
