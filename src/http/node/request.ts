import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { types } from 'node:util';
import { BodyBytes, HttpError } from '../exchange.ts';
import type { ServiceRequest } from '../exchange.ts';
import { splitTarget } from '../routes.ts';

/** The maximum number of fields in a request header. */
export const maxFields = 128;

export class NodeRequest implements ServiceRequest {
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
   * Also refuses HTTP versions other than 1.0 and 1.1, and a header with too many fields: Node.js 22 and 24 hide the
   * excess fields, although a hidden field can determine where the body ends.
   */
  check(): void {
    const httpVersion = (this.raw as Partial<IncomingMessage>).httpVersion ?? '1.1';
    if (this.#rawHeaders.length > 2 * maxFields) throw new HttpError('header_too_large');
    if (httpVersion !== '1.1' && httpVersion !== '1.0') {
      const message = 'This service supports HTTP/1.1, but not other versions such as HTTP/2.';
      throw new HttpError('malformed_request', message);
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
      // Function hosts, such as that of Cloud Functions, read the body and keep its bytes.
      const { rawBody } = message as { rawBody?: unknown };
      if (!types.isUint8Array(rawBody)) {
        throw new Error('The request body was already read: mount the listener before any body parser.');
      }
      const error = bytes.add(rawBody);
      if (error !== undefined) throw error;
      return bytes.all;
    }
    // node:http parses a body that has arrived with the header before any microtask runs. Reading such a body without
    // listeners saves CPU time.
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
        // The rest of a body may arrive after the request has timed out and the error response has been sent.
        settle(this.isOpen ? undefined : new HttpError('malformed_request'));
      };
      // Without this listener, the promise would never settle after a disconnect.
      const onClose = (): void => {
        settle(new HttpError('malformed_request'));
      };
      message.on('data', onData).on('end', onEnd).on('close', onClose);
    });
  }
}

/** Express sets `originalUrl` and `baseUrl`; connect, middie and h3 set only `originalUrl`. */
function mountPathOf(message: object, target: string): string {
  const { originalUrl, baseUrl } = message as { originalUrl?: unknown; baseUrl?: unknown };
  if (typeof originalUrl === 'string') {
    const original = splitTarget(originalUrl).path;
    const { path } = splitTarget(target);
    if (original.endsWith(path)) return original.slice(0, -path.length);
  }
  return typeof baseUrl === 'string' ? baseUrl : '';
}
