import type { IncomingMessage } from 'node:http';
import type { ServiceRequest } from '../service-request.ts';
import { isOpen } from './in-order.ts';
import { readBody } from './request-body.ts';
import { countHeader, headerValues } from './validation.ts';

/**
 * Adapts a node:http request to {@link ServiceRequest}. Nothing is copied, because each member reads the original
 * request on access.
 */
export class NodeRequest implements ServiceRequest {
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
  }

  get method(): string {
    return this.#message.method ?? 'GET';
  }

  get target(): string {
    return this.#message.url ?? '/';
  }

  /** The prefix that an Express-style app has removed from the URL; empty if no prefix was removed. */
  get mountPath(): string {
    const message = this.#message;
    return 'baseUrl' in message && typeof message.baseUrl === 'string' ? message.baseUrl : '';
  }

  get peerAddress(): string | undefined {
    return this.#message.socket.remoteAddress;
  }

  get isOpen(): boolean {
    return isOpen(this.#message.socket);
  }

  header(name: string): string | undefined {
    const value = this.#message.headers[name];
    if (value === undefined) return undefined;
    // `headers` contains only the first value of some repeated headers.
    if (countHeader(this.#message, name) !== 1) return headerValues(this.#message, name).join(', ');
    return typeof value === 'string' ? value : value.join(', ');
  }

  readBody(maxBytes: number): Promise<Buffer> {
    return readBody(this.#message, maxBytes);
  }
}
