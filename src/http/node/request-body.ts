import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from '../http-error.ts';

/** How much of a refused body is read and discarded, so that the client receives the error response. */
const maxDrainedBytes = 1_048_576;

/** Past the maximum, a chunk counts as at least this many bytes: 6 MB of one-byte chunks took 1.7 s of CPU time. */
const minDrainedChunkBytes = 64;

const pendingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Defers `100 Continue` until the body of a request is read (RFC 9110 §10.1.1). */
export function deferContinue(request: IncomingMessage, response: ServerResponse): void {
  pendingContinue.set(request, response);
}

function isBodyAnnounced({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Reads the whole body of a request: see `ServiceRequest.readBody`. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  beforeWaiting: (bytes: number) => void,
): Buffer | Promise<Buffer> {
  if (request.readableDidRead) {
    throw new Error('The request body was read before the listener got it: mount it before any body parser.');
  }
  const arrived = readArrived(request, maxBytes);
  if (arrived !== null) return arrived;
  beforeWaiting(expectedBytes(request, maxBytes));
  return readAnnounced(request, maxBytes);
}

/** Waits for the end of a body that has no defined semantics: see `ServiceRequest.discardBody`. */
export function discardBody(request: IncomingMessage, maxBytes: number): Promise<void> | undefined {
  if (request.complete || !isBodyAnnounced(request)) return undefined;
  return readAnnounced(request, maxBytes).then(() => undefined);
}

/**
 * Returns whether the rest of a request's body may be too large to drain. The connection is then closed
 * after the response. Node.js itself drains the rest of any other body.
 */
export function hasEndlessBody(request: IncomingMessage, maxBytes: number): boolean {
  if (request.complete) return false;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || Number(length ?? 0) > maxBytes + maxDrainedBytes;
}

/** Returns the body if all of it arrived with the header, as most do. This needs no listener and no promise. */
function readArrived(request: IncomingMessage, maxBytes: number): Buffer | null {
  const length = request.readableLength;
  if (length > maxBytes || length !== Number(request.headers['content-length']) || pendingContinue.has(request)) {
    return null;
  }
  return request.read() as Buffer | null;
}

/** Reads a body. A deferred `100 Continue` is sent first, unless Content-Length is already over the maximum. */
function readAnnounced(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const response = pendingContinue.get(request);
  if (response !== undefined && Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  response?.writeContinue();
  return readBytes(request, maxBytes);
}

/** Returns the maximum size of a body in bytes, as far as the request's header shows. */
function expectedBytes({ headers }: IncomingMessage, maxBytes: number): number {
  return Math.min(maxBytes, Number(headers['content-length'] ?? maxBytes));
}

/** Reads a body. Uses events, because `for await` costs an eighth to a quarter of the CPU time of a whole request. */
function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const expected = expectedBytes(request, maxBytes);
    let length = 0;
    const onData = (chunk: Buffer): void => {
      if (length + chunk.length <= maxBytes) {
        bytes = withChunk(bytes, length, chunk, expected);
        length += chunk.length;
        return;
      }
      length += Math.max(chunk.length, minDrainedChunkBytes);
      if (length > maxBytes + maxDrainedBytes) {
        settle(() => {
          reject(tooLarge(maxBytes));
        });
      }
    };
    const onEnd = (): void => {
      settle(() => {
        if (length > maxBytes) reject(tooLarge(maxBytes));
        else resolve(bytes.subarray(0, length));
      });
    };
    // Without this listener, the promise would never settle after a disconnect.
    const onClose = (): void => {
      settle(() => {
        reject(new HttpError('malformed_request'));
      });
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
 * Returns a buffer with the first `length` bytes of `bytes`, followed by the chunk. The chunks
 * themselves are not kept, because 64 KiB received one byte at a time would use 27 MiB.
 */
function withChunk(bytes: Buffer, length: number, chunk: Buffer, expected: number): Buffer {
  if (length === 0) return chunk;
  const needed = length + chunk.length;
  const roomy = needed <= bytes.length ? bytes : Buffer.allocUnsafe(Math.max(needed, Math.min(2 * needed, expected)));
  if (roomy !== bytes) bytes.copy(roomy, 0, 0, length);
  chunk.copy(roomy, length);
  return roomy;
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError('body_too_large', `The body is over ${maxBytes} bytes.`);
}
