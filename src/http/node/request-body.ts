import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBytes } from '../body.ts';
import { HttpError } from '../http-error.ts';
import { isOpen } from './in-order.ts';

const pendingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Defers `100 Continue` until the body of a request is read (RFC 9110 §10.1.1). */
export function deferContinue(request: IncomingMessage, response: ServerResponse): void {
  pendingContinue.set(request, response);
}

/** Returns whether part of a request body may not have arrived yet. */
export function isBodyIncomplete({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0');
}

/** Implements `ServiceRequest.readBody` for a node:http request. */
export function readBody(request: IncomingMessage, maxBytes: number): Buffer | Promise<Buffer> {
  if (request.readableDidRead) {
    throw new Error('The request body was read before the listener got it: mount it before any body parser.');
  }
  // With `optimizeEmptyRequests`, a request without a body has already ended, and emits no events.
  if (request.readableEnded) return Buffer.alloc(0);
  const announced = request.headers['content-length'];
  const length = request.readableLength;
  const continued = pendingContinue.get(request);
  // Usually, the body arrives with the header. It can then be read without listeners or a promise.
  if (length > 0 && length <= maxBytes && length === Number(announced) && continued === undefined) {
    return request.read() as Buffer;
  }
  const bytes = new BodyBytes(maxBytes, announced);
  continued?.writeContinue();
  return readAll(request, bytes);
}

/**
 * Reads a body. Uses events, because `for await` would take an eighth to a quarter of the CPU time of the whole
 * request.
 */
function readAll(request: IncomingMessage, bytes: BodyBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      if (bytes.add(chunk)) return;
      stop();
      reject(bytes.tooLarge());
    };
    const onEnd = (): void => {
      stop();
      // The rest of a body may arrive after the request has timed out and has received its error response.
      if (isOpen(request.socket)) resolve(bytes.all);
      else reject(new HttpError('malformed_request'));
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
