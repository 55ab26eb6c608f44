import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlantStoreError } from '../../model/errors.ts';

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

/** Waits for the end of a body that has no meaning: see `ServiceRequest.discardBody`. */
export function discardBody(request: IncomingMessage, maxBytes: number): Promise<void> | undefined {
  if (request.complete || !isBodyAnnounced(request)) return undefined;
  return readAnnounced(request, maxBytes).then(() => undefined);
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

/** How many bytes a body can have, as far as its header tells. */
function expectedBytes({ headers }: IncomingMessage, maxBytes: number): number {
  return Math.min(maxBytes, Number(headers['content-length'] ?? maxBytes));
}

/** By events: `for await` on a request costs an eighth to a quarter of the whole request's CPU. */
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
function withChunk(bytes: Buffer, length: number, chunk: Buffer, expected: number): Buffer {
  if (length === 0) return chunk;
  const needed = length + chunk.length;
  const roomy = needed <= bytes.length ? bytes : Buffer.allocUnsafe(Math.max(needed, Math.min(2 * needed, expected)));
  if (roomy !== bytes) bytes.copy(roomy, 0, 0, length);
  chunk.copy(roomy, length);
  return roomy;
}

function tooLarge(maxBytes: number): PlantStoreError {
  return new PlantStoreError('body_too_large', `The body is over ${maxBytes} bytes.`);
}
