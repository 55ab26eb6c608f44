import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyBytes } from '../body.ts';
import { HttpError } from '../http-error.ts';
import { isOpen } from './in-order.ts';

const pendingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Defers `100 Continue` until the body of a request is read (RFC 9110 §10.1.1). */
export function deferContinue(request: IncomingMessage, response: ServerResponse): void {
  pendingContinue.set(request, response);
}

/** Returns whether part of a request body might not have arrived yet. */
export function isBodyIncomplete({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0');
}

/** Implements `ServiceRequest.readBody` for a node:http request. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (request.readableDidRead) {
    throw new Error('The request body was read before the listener got it: mount it before any body parser.');
  }
  const announced = request.headers['content-length'];
  const bytes = new BodyBytes(maxBytes, announced);
  pendingContinue.get(request)?.writeContinue();
  // If the body has arrived together with the header, node:http parses the body before any microtask runs. Such a body
  // can be read without listeners.
  await Promise.resolve();
  const length = request.readableLength;
  if (length > 0 && length === Number(announced)) return request.read() as Buffer;
  // With `optimizeEmptyRequests`, a request without a body has already ended and emits no events.
  return request.readableEnded ? bytes.all : readAll(request, bytes);
}

/** Reads a body. Uses events, because `for await` would take an eighth to a quarter of the request's total CPU time. */
function readAll(request: IncomingMessage, bytes: BodyBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      if (bytes.add(chunk)) return;
      stop();
      reject(bytes.tooLarge());
    };
    const onEnd = (): void => {
      stop();
      // The rest of a body may arrive after the request has timed out and the error response has been sent.
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
