import type { IncomingMessage } from 'node:http';
import { BodyBytes } from '../body.ts';
import { HttpError } from '../exchange.ts';
import type { ServiceRequest } from '../exchange.ts';

export class NodeRequest implements ServiceRequest {
  readonly #message: IncomingMessage;
  readonly method: string;
  readonly target: string;
  readonly mountPath: string;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.method = message.method ?? 'GET';
    this.target = message.url ?? '/';
    this.mountPath = 'baseUrl' in message && typeof message.baseUrl === 'string' ? message.baseUrl : '';
  }

  get peerAddress(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  get isOpen(): boolean {
    const { socket } = this.#message;
    return !socket.writableEnded && !socket.destroyed;
  }

  header(name: string): string | undefined {
    // Not a valid token. node:http keeps only the first value of a repeated header.
    if (name === 'authorization' && countHeader(this.#message, name) > 1) return 'Bearer repeated,';
    const value: unknown = this.#message.headers[name];
    if (Array.isArray(value)) return value.join(', ');
    return typeof value === 'string' ? value : undefined;
  }

  /** Uses events, because `for await` would take an eighth to a quarter of the request's CPU time. */
  async readBody(maxBytes: number): Promise<Buffer> {
    const message = this.#message;
    if (message.readableDidRead) {
      throw new Error('The request body was read before the listener got it: mount it before any body parser.');
    }
    const announced = message.headers['content-length'];
    const bytes = new BodyBytes(maxBytes, announced);
    // node:http parses a body that has arrived with the header before any microtask runs. Such a body needs no
    // listeners, which would take a sixth of the CPU time of a create request.
    await Promise.resolve();
    const length = message.readableLength;
    if (length > 0 && length === Number(announced)) return message.read(length) as Buffer;
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
export function refusalOf(message: IncomingMessage): HttpError | undefined {
  const { headers, httpVersion, rawHeaders } = message;
  if (rawHeaders.length > 2 * maxFields) return new HttpError('header_too_large');
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new HttpError('malformed_request', 'This service supports HTTP/1.1, but not other versions such as HTTP/2.');
  }
  const coding = headers['transfer-encoding'];
  const isCodingInvalid = coding !== undefined && (httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked');
  return isCodingInvalid || countHeader(message, 'host') > 1 ? new HttpError('malformed_request') : undefined;
}

/** `headers` does not contain all values of a repeated header. */
function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at];
    if (header?.length === name.length && header.toLowerCase() === name) count++;
  }
  return count;
}
