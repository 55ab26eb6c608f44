import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { types } from 'node:util';
import { BodyBytes, HttpError } from '../exchange.ts';
import type { Pages, ServiceRequest, ServiceResponse } from '../exchange.ts';
import type { ServiceOptions, ServiceStore } from '../options.ts';
import { mountPathOf } from '../routes.ts';
import { createService } from '../service.ts';
import type { Service } from '../service.ts';
import { closeAfter, closeAfterUpgrade, currentResponse } from './connections.ts';

/**
 * A node:http request listener. If it is called with `next`, it acts as a Connect middleware. The promise resolves when
 * the response has been sent, its client has disconnected, or `next` has been called. It never rejects.
 */
export type ServiceListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => Promise<void>;

/** The maximum number of pipelined requests that wait on a connection. One more request closes the connection. */
const maxWaiting = 32;

/**
 * Creates a node:http request listener for the HTTP service. It supports HTTP/1.0 and HTTP/1.1, and does not change the
 * server's settings. The requests of a connection are handled one after another.
 *
 * The listener is also a Connect middleware for an Express-style app, at the root or under a prefix. Mount it before
 * any body parser. It calls `next()` for paths that the service does not handle. Without `next`, it responds to
 * requests for such paths with 404. A request with an `Upgrade` header is the last one of its connection, even if it is
 * passed to `next`.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const plants = createRequestListener(store, { authenticate });
 * app.use('/garden', (request, response) => plants(request, response));
 */
export function createRequestListener(store: ServiceStore, options: ServiceOptions<IncomingMessage>): ServiceListener {
  const service = createService(store, options);
  /** For each connection, the number of pipelined requests that wait. */
  const waiting = new WeakMap<Socket, number>();

  /** Waits for earlier responses: node:http assigns the socket to the responses in the order of the requests. */
  async function respondInTurn(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = message;
    const others = waiting.get(socket) ?? 0;
    if (others === maxWaiting || socket.destroyed) {
      socket.destroy();
      return;
    }
    waiting.set(socket, others + 1);
    // When this promise resolves, the previous request has released its permit.
    await new Promise<void>((resolve) => {
      const endWait = (): void => {
        socket.off('close', endWait);
        resolve();
      };
      response.on('socket', endWait);
      // node:http emits no event for a response that is still waiting when its client disconnects.
      socket.setMaxListeners(0).on('close', endWait);
    });
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
    if (response.socket !== null) await respond(service, message, response);
  }

  return (message, response, next) => {
    if (typeof (response as Partial<ServerResponse> | undefined)?.end !== 'function') {
      const advice = 'requires a node:http request and response. For a Request, use createFetchHandler.';
      service.report(new TypeError(`createRequestListener ${advice}`));
      return Promise.resolve();
    }
    closeAfterUpgrade(message, response);
    if (next !== undefined && !service.hasRoute(message.url ?? '/')) next();
    // A middleware, such as a timeout, may have sent the response.
    else if (!response.writableEnded) {
      const mustWait = response.socket === null && currentResponse(message.socket) !== undefined;
      return mustWait ? respondInTurn(message, response) : respond(service, message, response);
    }
    return Promise.resolve();
  };
}

async function respond(service: Service, message: IncomingMessage, response: ServerResponse): Promise<void> {
  let onEnd: ServiceResponse['onEnd'] | undefined;
  try {
    const request = new NodeRequest(message);
    const result = await service.handle(request);
    onEnd = result.onEnd;
    if (!request.isComplete) closeAfter(response, message.socket);
    // With Node.js 22 and 24, a response whose client has disconnected would count as sent.
    if (!response.destroyed) {
      const { status, headers, body } = result;
      response.writeHead(status, headers);
      if (message.method === 'HEAD') response.end();
      else if (typeof body === 'object' && 'next' in body) await sendPages(body, response);
      else response.end(body);
    }
    await new Promise<void>((resolve) => {
      const end = (isComplete: boolean) => () => {
        onEnd?.({ isComplete });
        resolve();
      };
      if (response.writableFinished || response.destroyed) end(response.writableFinished)();
      // The responses of some libraries emit only one of the two events.
      response.on('finish', end(true));
      response.on('close', end(false));
    });
  } catch (error) {
    // The client must not mistake a part of the response for the whole response. A test double or a serverless adapter
    // may lack methods that every response of node:http has.
    (response as Partial<ServerResponse>).destroy?.();
    if (onEnd === undefined) service.report(error);
    else onEnd({ isComplete: false, error });
  }
}

/** Returns early if the client disconnects. */
async function sendPages(pages: Pages, response: ServerResponse): Promise<void> {
  const closed = new Promise((resolve) => response.on('close', resolve));
  for await (const page of pages) {
    // Like `pipe`, this does not pass a callback to `write`: a middleware that compresses the response would drop the
    // callback. Some libraries create responses whose `write` returns nothing.
    const isFull = (response.write(page) as boolean | undefined) === false;
    if (isFull) await Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))]);
    if (response.destroyed) return;
  }
  response.end();
}

/** The maximum number of fields in a request header. */
export const maxFields = 128;

class NodeRequest implements ServiceRequest {
  readonly raw: IncomingMessage;
  readonly #headers: IncomingMessage['headers'];
  readonly #rawHeaders: readonly string[];
  readonly #socket: Socket | undefined;
  readonly method: string;
  readonly target: string;
  readonly mountPath: string;
  #bytesRead = 0;
  #isChecked = false;

  constructor(message: IncomingMessage) {
    // Any member can be missing from a request of a test double or of a serverless adapter.
    const { headers = {}, rawHeaders = [], socket } = message as Partial<IncomingMessage>;
    this.raw = message;
    this.#headers = headers;
    this.#rawHeaders = rawHeaders;
    this.#socket = socket;
    this.method = message.method ?? 'GET';
    this.target = message.url ?? '/';
    this.mountPath = mountPathOf(message, this.target);
  }

  get peerAddress(): string | undefined {
    return this.#socket?.remoteAddress;
  }

  get isOpen(): boolean {
    return this.#socket?.writableEnded !== true && this.#socket?.destroyed !== true;
  }

  /** Whether the whole request has arrived, and all recipients agree where it ends. */
  get isComplete(): boolean {
    const { complete = true } = this.raw as Partial<IncomingMessage>;
    // node:http sets `complete` only after it has passed on the body.
    const length = this.#bytesRead + this.raw.readableLength;
    return this.#isChecked && (complete || length === Number(this.#headers['content-length']));
  }

  header(name: string): string | undefined {
    // `headers` contains only the first value of a repeated Authorization header.
    if (name === 'authorization' && this.#count(name) > 1) {
      return this.raw.headersDistinct[name]?.join(', ');
    }
    const value: unknown = this.#headers[name];
    // Serverless adapters and test doubles can represent any repeated header as an array.
    if (Array.isArray(value)) return value.join(', ');
    return typeof value === 'string' ? value : undefined;
  }

  /**
   * Refuses a request that node:http accepts, but that recipients could interpret differently: one with a repeated
   * `Host` header (RFC 9112 §3.2), a transfer coding other than chunked, or any transfer coding in HTTP/1.0 (§6.1).
   * Also refuses HTTP versions other than 1.0 and 1.1, and a header with too many fields: Node.js 22 and 24 omit the
   * fields beyond a limit, and an omitted field can determine where the body ends.
   */
  check(): void {
    const httpVersion = (this.raw as Partial<IncomingMessage>).httpVersion ?? '1.1';
    if (this.#rawHeaders.length > 2 * maxFields) throw new HttpError('header_too_large');
    if (httpVersion !== '1.1' && httpVersion !== '1.0') {
      throw new HttpError('malformed_request', 'This service supports only HTTP/1.1 and HTTP/1.0.');
    }
    const coding = this.#headers['transfer-encoding'];
    const isCodingValid = coding === undefined || (httpVersion === '1.1' && coding.toLowerCase() === 'chunked');
    if (!isCodingValid || this.#count('host') > 1) throw new HttpError('malformed_request');
    this.#isChecked = true;
  }

  #count(name: string): number {
    let count = 0;
    for (let at = 0; at < this.#rawHeaders.length; at += 2) {
      const header = this.#rawHeaders[at];
      if (header?.length === name.length && header.toLowerCase() === name) count++;
    }
    return count;
  }

  /** Uses events, because `for await` takes more CPU time. */
  async readBody(maxBytes: number): Promise<Buffer> {
    const message = this.raw;
    const announced = this.#headers['content-length'];
    const bytes = new BodyBytes(maxBytes, announced);
    if (message.readableDidRead) {
      // Function hosts, such as Google Cloud Functions, read the body first and keep its bytes in `rawBody`.
      const { rawBody } = message as { rawBody?: unknown };
      if (!types.isUint8Array(rawBody)) {
        throw new Error('The request body was already read: mount the listener before any body parser.');
      }
      const error = bytes.add(rawBody);
      if (error !== undefined) throw error;
      return bytes.all;
    }
    // If a body arrives together with the header, node:http parses it before the next microtask runs. Such a body is
    // read without listeners, which saves CPU time.
    await Promise.resolve();
    const length = message.readableLength;
    if (length > 0 && length === Number(announced)) {
      this.#bytesRead = length;
      return message.read(length) as Buffer;
    }
    // If the server has the option `optimizeEmptyRequests`, a request without a body has ended and emits no events.
    if (message.readableEnded) return bytes.all;
    return new Promise((resolve, reject) => {
      const settle = (error?: HttpError): void => {
        message.off('data', onData).off('end', onEnd).off('close', onClose);
        if (error === undefined) resolve(bytes.all);
        else reject(error);
      };
      const onData = (chunk: Buffer): void => {
        const error = bytes.add(chunk);
        if (error !== undefined) settle(error);
      };
      const onEnd = (): void => {
        // The server may have sent an error response, for example after a timeout, before the rest of the body arrived.
        settle(this.isOpen ? undefined : new HttpError('malformed_request'));
      };
      // After a disconnect, `end` is not emitted. Requests of serverless adapters have no socket to tell them apart.
      const onClose = (): void => {
        settle(new HttpError('malformed_request'));
      };
      message.on('data', onData).on('end', onEnd).on('close', onClose);
    });
  }
}
