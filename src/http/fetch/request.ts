import { BodyBytes } from '../body.ts';
import { HttpError } from '../exchange.ts';
import type { ServiceRequest } from '../exchange.ts';

/** A stream of endless empty chunks would block the event loop. */
const maxEmptyChunks = 1000;

export class FetchRequest implements ServiceRequest {
  readonly #request: Request;
  /** A framework does not say which prefix it has removed. Applications set `basePath` instead. */
  readonly mountPath = '';
  readonly peerAddress = undefined;

  /**
   * Throws a TypeError if `request` lacks a member. Frameworks may pass instances of their own classes, and test
   * runners may run code in another realm, so `instanceof` is not used.
   */
  constructor(request: Request) {
    const { url, headers } = ((request as unknown) ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof url !== 'string' || typeof (headers as Partial<Headers> | undefined)?.get !== 'function') {
      throw new TypeError('The fetch handler must be called with a Request, such as event.request or context.req.raw');
    }
    this.#request = request;
  }

  get method(): string {
    return this.#request.method;
  }

  /** The path and query. The URL may have a custom scheme, such as that of a desktop app. */
  get target(): string {
    return this.#request.url.replace(/^[^:/?#]+:\/\/[^/?#]*/, '').replace(/#.*$/, '');
  }

  get isOpen(): boolean {
    return !this.#request.signal.aborted;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  /**
   * If `Content-Length` exceeds the maximum, `request.body` is not accessed. If the body were canceled, some servers
   * would close the connection before the client receives the response. Throws a TypeError if the body has already been
   * read.
   */
  async readBody(maxBytes: number): Promise<Buffer> {
    const request = this.#request;
    if (request.bodyUsed) throw alreadyRead();
    const announced = this.header('content-length') ?? '';
    // If an application has created the Request, this header can have any value.
    const bytes = new BodyBytes(maxBytes, /^\d+$/.test(announced) ? announced : undefined);
    const { body, signal } = request;
    if (body === null) return bytes.all;
    if (body.locked) throw alreadyRead();
    const reader: ReadableStreamDefaultReader<unknown> = body.getReader();
    // cancel() makes a pending read() resolve with `done`. cancel() rejects only if the stream has already failed.
    const cancel = (): void => {
      reader.cancel().catch(() => undefined);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await readAll(reader, bytes);
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
}

function alreadyRead(): TypeError {
  return new TypeError(
    'The body of the request was already read: call the fetch handler before any body parser, with the same Request.',
  );
}

async function readAll(reader: ReadableStreamDefaultReader<unknown>, bytes: BodyBytes): Promise<void> {
  for (let emptyChunks = 0; emptyChunks <= maxEmptyChunks;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new HttpError('malformed_request', undefined, { cause });
    });
    if (done) return;
    // `instanceof` is not used, because a test runner may run the application in another realm.
    if (!ArrayBuffer.isView(value)) throw new TypeError('The body of the request contains chunks that are not bytes');
    if (value.byteLength === 0) emptyChunks++;
    const error = bytes.add(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
    if (error !== undefined) throw error;
  }
  throw new TypeError(`The body of the request contains more than ${maxEmptyChunks} empty chunks`);
}
