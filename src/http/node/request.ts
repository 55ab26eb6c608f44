import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { BodyBytes, HttpError } from '../exchange.ts';
import type { ServiceRequest } from '../exchange.ts';

/** Any member can be missing from a request of a test double or of a serverless adapter. */
type Members = {
  readonly [Name in 'complete' | 'headers' | 'httpVersion' | 'rawHeaders' | 'socket']?: IncomingMessage[Name];
};

export class NodeRequest implements ServiceRequest {
  readonly #message: IncomingMessage;
  readonly #headers: IncomingMessage['headers'];
  readonly #socket: Socket | undefined;
  readonly method: string;
  readonly target: string;
  readonly mountPath: string;
  #bytesRead = 0;
  /** Whether recipients could disagree about where the request ends. */
  isAmbiguous = false;

  constructor(message: IncomingMessage) {
    const { headers = {}, socket } = message as Members;
    this.#message = message;
    this.#headers = headers;
    this.#socket = socket;
    this.method = message.method ?? 'GET';
    this.target = message.url ?? '/';
    this.mountPath = 'baseUrl' in message && typeof message.baseUrl === 'string' ? message.baseUrl : '';
  }

  get peerAddress(): string | undefined {
    return this.#socket?.remoteAddress;
  }

  get isOpen(): boolean {
    return this.#socket?.writableEnded !== true && this.#socket?.destroyed !== true;
  }

  /** Whether the whole request has arrived. node:http sets `complete` only after it has passed on the body. */
  get isComplete(): boolean {
    const { complete = true } = this.#message as Members;
    const length = this.#bytesRead + this.#message.readableLength;
    return complete || length === Number(this.#headers['content-length']);
  }

  header(name: string): string | undefined {
    // `headers` contains only the first value of a repeated Authorization header.
    if (name === 'authorization' && countHeader(this.#message, name) > 1) {
      return this.#message.headersDistinct[name]?.join(', ');
    }
    const value: unknown = this.#headers[name];
    if (Array.isArray(value)) return value.join(', ');
    return typeof value === 'string' ? value : undefined;
  }

  check(): void {
    const refusal = refusalOf(this.#message, this.#headers);
    this.isAmbiguous = refusal !== undefined;
    if (refusal !== undefined) throw refusal;
  }

  /** Uses events, because `for await` would take an eighth to a quarter of the request's CPU time. */
  async readBody(maxBytes: number): Promise<Buffer> {
    const message = this.#message;
    if (message.readableDidRead) {
      throw new Error('The request body was read before the listener got it: mount it before any body parser.');
    }
    const announced = this.#headers['content-length'];
    const bytes = new BodyBytes(maxBytes, announced);
    // node:http parses a body that has arrived with the header before any microtask runs. Such a body needs no
    // listeners, which would take a sixth of the CPU time of a create request.
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

/** The maximum number of fields in a request header. */
export const maxFields = 128;

/**
 * Returns an error for a request that node:http accepts, but that recipients could interpret differently: one with a
 * repeated `Host` header (RFC 9112 §3.2), a transfer coding other than chunked, or any transfer coding in HTTP/1.0
 * (§6.1). Also refuses HTTP versions other than 1.0 and 1.1, and a header with too many fields: Node.js 22 and 24 hide
 * the excess fields, although a hidden field can determine where the body ends.
 */
function refusalOf(message: IncomingMessage, headers: IncomingMessage['headers']): HttpError | undefined {
  const { rawHeaders = [] } = message as Members;
  const httpVersion = (message as Members).httpVersion ?? '1.1';
  if (rawHeaders.length > 2 * maxFields) return new HttpError('header_too_large');
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new HttpError('malformed_request', 'This service supports HTTP/1.1, but not other versions such as HTTP/2.');
  }
  const coding = headers['transfer-encoding'];
  const isCodingInvalid = coding !== undefined && (httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked');
  return isCodingInvalid || countHeader(message, 'host') > 1 ? new HttpError('malformed_request') : undefined;
}

/** `headers` does not contain all values of a repeated header. */
function countHeader(message: IncomingMessage, name: string): number {
  const { rawHeaders = [] } = message as Members;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at];
    if (header?.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}
