import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBytes, maxDrainedBytes, tooLarge } from '../body-bytes.ts';
import { HttpError } from '../http-error.ts';

const pendingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Defers `100 Continue` until the body of a request is read (RFC 9110 §10.1.1). */
export function deferContinue(request: IncomingMessage, response: ServerResponse): void {
  pendingContinue.set(request, response);
}

function isBodyAnnounced({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Implements `ServiceRequest.readBody` for a node:http request. */
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

/** Implements `ServiceRequest.discardBody` for a node:http request. */
export function discardBody(request: IncomingMessage, maxBytes: number): Promise<void> | undefined {
  if (request.complete || !isBodyAnnounced(request)) return undefined;
  return readAnnounced(request, maxBytes).then(() => undefined);
}

/**
 * Returns whether the unread part of a request body may be too large to drain. If so, the connection must be closed
 * after the response. Otherwise, Node.js drains the unread part.
 */
export function hasEndlessBody(request: IncomingMessage, maxBytes: number): boolean {
  if (request.complete) return false;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || Number(length ?? 0) > maxBytes + maxDrainedBytes;
}

/**
 * Returns the body if all of it arrived with the header, which is the usual case; otherwise `null`. This function does
 * not need a listener or a promise.
 */
function readArrived(request: IncomingMessage, maxBytes: number): Buffer | null {
  const length = request.readableLength;
  if (length > maxBytes || length !== Number(request.headers['content-length']) || pendingContinue.has(request)) {
    return null;
  }
  return request.read() as Buffer | null;
}

/**
 * Reads a body. If the client is waiting for `100 Continue`, first sends this interim response.
 *
 * @throws {HttpError} `body_too_large` if the client is waiting and `Content-Length` exceeds the maximum.
 */
function readAnnounced(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const response = pendingContinue.get(request);
  if (response !== undefined && Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  response?.writeContinue();
  return readBytes(request, maxBytes);
}

/**
 * Returns the number of bytes to reserve for a body: its `Content-Length`, but at most `maxBytes`. If the header is
 * missing, returns `maxBytes`.
 */
function expectedBytes({ headers }: IncomingMessage, maxBytes: number): number {
  return Math.min(maxBytes, Number(headers['content-length'] ?? maxBytes));
}

/**
 * Reads a body. Uses events, because `for await` would take an eighth to a quarter of the CPU time of the whole
 * request.
 */
function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = new BodyBytes(maxBytes, expectedBytes(request, maxBytes));
    const onData = (chunk: Buffer): void => {
      if (!bytes.add(chunk)) onEnd();
    };
    const onEnd = (): void => {
      stop();
      const result = bytes.result();
      if (result instanceof HttpError) reject(result);
      else resolve(result);
    };
    // Without this listener, the promise would never settle after a disconnect.
    const onClose = (): void => {
      stop();
      reject(new HttpError('malformed_request'));
    };
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    if (request.destroyed) onClose();
  });
}
