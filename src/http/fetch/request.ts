import { BodyBytes, HttpError } from '../exchange.ts';
import type { ServiceRequest } from '../exchange.ts';

export class FetchRequest implements ServiceRequest {
  readonly raw: Request;
  /** Azure Functions passes requests without a signal. */
  readonly #signal: AbortSignal | undefined;
  readonly method: string;
  readonly target: string;
  /** A framework does not say which prefix it has removed. Applications set `basePath` instead. */
  readonly mountPath = '';
  readonly peerAddress = undefined;

  constructor(request: Request) {
    const { headers, signal } = Object(request) as Partial<Request>;
    if (typeof headers?.get !== 'function') {
      throw new TypeError('createFetchHandler requires a Request. For node:http requests, use createRequestListener.');
    }
    this.raw = request;
    this.#signal = signal;
    this.method = request.method;
    // The URL may have a custom scheme, such as that of a desktop app.
    this.target = request.url.replace(/^[^:/?#]+:\/\/[^/?#]*/, '').replace(/#.*$/, '');
  }

  get isOpen(): boolean {
    return this.#signal?.aborted !== true;
  }

  header(name: string): string | undefined {
    return this.raw.headers.get(name) ?? undefined;
  }

  /**
   * Does not access `request.body` if `Content-Length` exceeds the maximum: when a body is canceled, some servers close
   * the connection before the client receives the response.
   */
  async readBody(maxBytes: number): Promise<Buffer> {
    const request = this.raw;
    const bytes = new BodyBytes(maxBytes, this.header('content-length'));
    const { body } = request;
    if (body === null) return bytes.all;
    if (request.bodyUsed || body.locked) {
      throw new TypeError('The request body was already read: call the fetch handler before any body parser.');
    }
    const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
    // cancel() makes a pending read() resolve with `done`. cancel() rejects only if the stream has already failed.
    const cancel = (): void => {
      reader.cancel().catch(() => undefined);
    };
    this.#signal?.addEventListener('abort', cancel, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader.read().catch((cause: unknown) => {
          throw new HttpError('malformed_request', undefined, { cause });
        });
        if (done) break;
        const error = bytes.add(value);
        if (error !== undefined) throw error;
      }
      if (!this.isOpen) throw new HttpError('malformed_request');
      return bytes.all;
    } catch (error) {
      cancel();
      throw error;
    } finally {
      reader.releaseLock();
    }
  }
}
