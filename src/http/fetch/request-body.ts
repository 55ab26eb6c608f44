import { BodyBytes, tooLarge } from '../body-bytes.ts';
import { HttpError } from '../http-error.ts';

/**
 * Implements `ServiceRequest.readBody` for a WHATWG `Request`. If `Content-Length` exceeds the maximum, the body is not
 * read, and the server that called the fetch handler must discard it. If this function cancelled the body, some servers
 * would close the connection, and the client would not receive the response. `request.body` is not accessed either:
 * this access makes `@hono/node-server` start reading the body, and it then does not discard the rest.
 *
 * @throws {TypeError} if the body has already been read.
 */
export function readBody(
  request: Request,
  maxBytes: number,
  beforeWaiting: (bytes: number) => void,
): Buffer | Promise<Buffer> {
  if (request.bodyUsed) throw alreadyRead();
  const expected = expectedBytes(request, maxBytes);
  const { body } = request;
  if (body === null) return Buffer.alloc(0);
  if (body.locked) throw alreadyRead();
  beforeWaiting(expected);
  return readStream(body, request.signal, new BodyBytes(maxBytes, expected));
}

/** Implements `ServiceRequest.discardBody` for a WHATWG `Request`. */
export function discardBody(request: Request, maxBytes: number): Promise<void> | undefined {
  if (request.bodyUsed) return undefined;
  const expected = expectedBytes(request, maxBytes);
  const { body, signal } = request;
  if (body === null || body.locked) return undefined;
  return readStream(body, signal, new BodyBytes(maxBytes, expected)).then(() => undefined);
}

function alreadyRead(): TypeError {
  return new TypeError(
    'The body of the request was already read: call the fetch handler before any body parser, with the same Request.',
  );
}

/**
 * Returns the number of bytes to reserve for a body: its `Content-Length`, or `maxBytes` if this header is missing or
 * invalid.
 *
 * @throws {HttpError} `body_too_large` if `Content-Length` exceeds the maximum.
 */
function expectedBytes({ headers }: Request, maxBytes: number): number {
  const announced = headers.get('content-length') ?? '';
  // If an application has created the Request, this header may have any value.
  if (!/^\d+$/.test(announced)) return maxBytes;
  if (Number(announced) > maxBytes) throw tooLarge(maxBytes);
  return Number(announced);
}

/**
 * Reads a stream until it ends. If the stream exceeds the maximum size, fails or is aborted, this function cancels it
 * and rejects.
 */
async function readStream(stream: ReadableStream, signal: AbortSignal, bytes: BodyBytes): Promise<Buffer> {
  const reader: ReadableStreamDefaultReader<unknown> = stream.getReader();
  // cancel() makes a pending read() resolve with `done`. It rejects only if the stream has already failed.
  const cancel = (): void => {
    reader.cancel().catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    while (await addNext(reader, bytes));
    if (signal.aborted) throw new HttpError('malformed_request');
    const result = bytes.result();
    if (result instanceof HttpError) throw result;
    return result;
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    reader.releaseLock();
  }
}

/** Reads one chunk and adds it to `bytes`. Returns `false` if the stream has ended or the rest must not be read. */
async function addNext(reader: ReadableStreamDefaultReader<unknown>, bytes: BodyBytes): Promise<boolean> {
  const { done, value } = await reader.read().catch((cause: unknown) => {
    throw new HttpError('malformed_request', undefined, { cause });
  });
  if (done) return false;
  // `instanceof` is not used, because a test runner may run the application in another realm.
  if (!ArrayBuffer.isView(value)) throw new TypeError('The body of the request contains chunks that are not bytes');
  return bytes.add(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
}
