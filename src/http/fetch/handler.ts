import { bodyHeaders, BodyBytes, errorBody, HttpError } from '../exchange.ts';
import type { Pages, SendOutcome, ServiceRequest } from '../exchange.ts';
import type { ServiceOptions, ServiceStore } from '../options.ts';
import { createService } from '../service.ts';

/** The service as a function. The promise never rejects. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Creates the HTTP service as a function that accepts a WHATWG `Request` and returns a promise for a `Response`, for
 * Hono, Next.js, SvelteKit, srvx, Bun, Deno and others. It does not import node:http.
 *
 * If clients reach the service under a prefix, set `basePath` to this prefix, even if the framework removes it from
 * `request.url`. Pass the request before its body is read. docs/integrations.md lists what the server that calls the
 * function must do itself, such as limiting connections and refusing malformed requests.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const plants = createFetchHandler(store, { authenticate });
 * const response = await plants(new Request('http://localhost/plants', { headers: { authorization: 'Bearer …' } }));
 */
export function createFetchHandler(store: ServiceStore, options: ServiceOptions<Request>): FetchHandler {
  const service = createService(store, options);
  return async (request) => {
    try {
      const { status, headers, body, onEnd } = await service.handle(new FetchRequest(request));
      const sent = request.method === 'HEAD' ? undefined : body;
      const isLongList = typeof sent === 'object' && 'next' in sent;
      if (!isLongList) onEnd({ isComplete: true });
      return new Response(isLongList ? streamOf(sent, request, onEnd) : sent, { status, headers });
    } catch (error) {
      service.report(error);
      const body = errorBody(new HttpError('internal'));
      return new Response(body, { status: 500, headers: bodyHeaders(body) });
    }
  };
}

/** The requests whose list is being sent. If such a request were garbage-collected, its signal would never abort. */
const sending = new Set<Request>();

/** Each page is read only when the consumer requests it. */
function streamOf(pages: Pages, request: Request, onEnd: (outcome: SendOutcome) => void): ReadableStream<Uint8Array> {
  const { signal } = request as Partial<Request>;
  sending.add(request);
  const end = (outcome: SendOutcome): void => {
    sending.delete(request);
    onEnd(outcome);
    void pages.return();
  };
  const onAbort = (): void => {
    end({ isComplete: false });
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  const source = {
    async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
      try {
        const { value, done } = await pages.next();
        if (done !== true) {
          controller.enqueue(value);
          return;
        }
        if (signal?.aborted !== true) controller.close();
        end({ isComplete: true });
      } catch (error) {
        end({ isComplete: false, error });
      }
      // This call does nothing after `close`. Otherwise, it tells the client that the list is incomplete. After an
      // abort, the stream fails only at the next pull, because some servers would log an earlier failure as a fault.
      controller.error(new HttpError('internal', 'The list ended before it was complete.'));
    },
    cancel: onAbort,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

class FetchRequest implements ServiceRequest {
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
    const bytes = new BodyBytes(maxBytes, this.header('content-length'));
    const { body, bodyUsed } = this.raw;
    if (body === null) return bytes.all;
    if (bodyUsed || body.locked) {
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
