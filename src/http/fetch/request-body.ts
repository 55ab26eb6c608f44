import { BodyBytes } from '../body.ts';
import { HttpError } from '../http-error.ts';

/**
 * Implements `ServiceRequest.readBody` for a WHATWG `Request`. If `Content-Length` exceeds the maximum, the body is not
 * read, and the server that called the fetch handler must discard it. If this function canceled the body, some servers
 * would close the connection, and the client would not receive the response. The function does not even access
 * `request.body`, because `@hono/node-server` would then start reading the body and would not discard the rest.
 *
 * @throws {TypeError} if the body has already been read.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Buffer> {
  if (request.bodyUsed) throw alreadyRead();
  const announced = request.headers.get('content-length') ?? '';
  // If an application has created the Request, this header can have any value.
  const bytes = new BodyBytes(maxBytes, /^\d+$/.test(announced) ? announced : undefined);
  const { body } = request;
  if (body === null) return bytes.all;
  if (body.locked) throw alreadyRead();
  return readStream(body, request.signal, bytes);
}

function alreadyRead(): TypeError {
  return new TypeError(
    'The body of the request was already read: call the fetch handler before any body parser, with the same Request.',
  );
}

/**
 * Reads a stream until it ends. If the stream exceeds the maximum size, fails or is aborted, this function cancels the
 * stream and rejects.
 */
async function readStream(stream: ReadableStream, signal: AbortSignal, bytes: BodyBytes): Promise<Buffer> {
  const reader: ReadableStreamDefaultReader<unknown> = stream.getReader();
  // cancel() makes a pending read() resolve with `done`. cancel() rejects only if the stream has already failed.
  const cancel = (): void => {
    reader.cancel().catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    while (await addNext(reader, bytes));
    if (signal.aborted) throw new HttpError('malformed_request');
    return bytes.all;
  } catch (error) {
    cancel();
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    reader.releaseLock();
  }
}

/** Reads one chunk and adds it to `bytes`. Returns `false` if the stream has ended. */
async function addNext(reader: ReadableStreamDefaultReader<unknown>, bytes: BodyBytes): Promise<boolean> {
  const { done, value } = await reader.read().catch((cause: unknown) => {
    throw new HttpError('malformed_request', undefined, { cause });
  });
  if (done) return false;
  // `instanceof` is not used, because a test runner may run the application in another realm.
  if (!ArrayBuffer.isView(value)) throw new TypeError('The body of the request contains chunks that are not bytes');
  if (bytes.add(Buffer.from(value.buffer, value.byteOffset, value.byteLength))) return true;
  throw bytes.tooLarge();
}
