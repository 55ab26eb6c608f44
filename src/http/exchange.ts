import { randomBytes } from 'node:crypto';
import { TextDecoder } from 'node:util';
import { errorTable, PlantStoreError } from '../core/model/errors.ts';
import type { ErrorCode } from '../core/model/errors.ts';
import { parseExactJson } from '../core/model/exact-json.ts';

export interface ServiceRequest {
  /** The request that the front received. */
  readonly raw: unknown;
  readonly method: string;
  /** A path and a query, or an absolute URL (RFC 9112 §3.2). */
  readonly target: string;
  /** The prefix that a framework has removed from the target, such as `/garden`; empty if no prefix was removed. */
  readonly mountPath: string;
  /** The IP address of the other end of the connection; `undefined` if it is unknown. */
  readonly peerAddress: string | undefined;
  /** Whether a response can still be sent. */
  readonly isOpen: boolean;
  /** Returns the value of a header; some repeated values are joined with commas. `name` must be in lower case. */
  header(name: string): string | undefined;
  /** @throws {HttpError} `malformed_request` or `header_too_large` if the request must not be handled. */
  check?(): void;
  /** @throws {HttpError} `body_too_large`, or `malformed_request` if the client disconnects before the end. */
  readBody(maxBytes: number): Promise<Buffer>;
}

/** Header fields by name. Middleware that wraps `writeHead` understands this form, but not always an array. */
export type HeaderFields = Readonly<Record<string, string>>;

/** The pages of a list, in UTF-8. */
export type Pages = AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>;

export interface Result {
  readonly status: number;
  readonly headers?: HeaderFields;
  /** The JSON body. A long list is read page by page while it is sent. */
  readonly body?: string | Uint8Array<ArrayBuffer> | Pages | undefined;
  readonly code?: ErrorCode;
}

/** A complete response, with all headers except those that the server adds. */
export interface ServiceResponse extends Pick<Result, 'status' | 'body'> {
  readonly headers: Record<string, string>;
  /** Must be called when the response is sent or passed to the web server, or can no longer be sent. */
  readonly onEnd: (outcome: SendOutcome) => void;
}

export interface SendOutcome {
  readonly isComplete: boolean;
  /** The error that ended the response early; `undefined` after a disconnect. */
  readonly error?: unknown;
}

/** An error of the HTTP service itself. Unlike most other errors, it is sent even to clients without a valid token. */
export class HttpError extends PlantStoreError {}

export function errorBody({ code, message }: Pick<PlantStoreError, 'code' | 'message'>): string {
  return JSON.stringify({ error: errorTable[code].integer, message });
}

/** Plants are private, so responses must not be cached. Browsers must not guess the media type. */
export function bodyHeaders(body: Result['body']): Record<string, string> {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  if (body === undefined) return headers;
  headers['Content-Type'] = 'application/json';
  if (typeof body === 'string') headers['Content-Length'] = `${Buffer.byteLength(body)}`;
  else if ('byteLength' in body) headers['Content-Length'] = `${body.byteLength}`;
  return headers;
}

/** Ids that no log format has to escape. */
const usableId = /^[!#-[\]-~]{1,128}$/;

/** Distinguishes the ids that this process creates from those of other processes. */
const ownPrefix = randomBytes(9).toString('base64url');
let ownIds = 0;

export function requestIdOf(request: ServiceRequest): string {
  return headerMatching(request, 'x-request-id', usableId) ?? `${ownPrefix}-${(++ownIds).toString(36)}`;
}

export function headerMatching(request: ServiceRequest, name: string, pattern: RegExp): string | undefined {
  const value = request.header(name);
  return value !== undefined && pattern.test(value) ? value : undefined;
}

/** Checks that the headers declare a JSON body in UTF-8 (RFC 8259 §8.1) without a content coding. */
export function checkMediaType(request: ServiceRequest): void {
  const contentType = request.header('content-type') ?? '';
  const coding = request.header('content-encoding') ?? 'identity';
  const isJson = /^application\/json\s*(?:;|$)/i.test(contentType);
  const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  if (isJson && /^utf-?8$/i.test(charset) && coding.toLowerCase() === 'identity') return;
  throw new HttpError('invalid_media_type');
}

/** Skips a byte order mark (RFC 8259 §8.1), and throws an error if the bytes are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Parses a JSON body, and keeps its `id` exact. */
export function parseBody(bytes: Buffer): unknown {
  try {
    return parseExactJson(utf8.decode(bytes));
  } catch (cause) {
    throw new HttpError('invalid_json', undefined, { cause });
  }
}

/** Collects the chunks of a body in one buffer, because separate small chunks would need many times their size. */
export class BodyBytes {
  readonly #maxBytes: number;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  /** @throws {HttpError} `body_too_large` if `announced`, the value of `Content-Length`, exceeds `maxBytes`. */
  constructor(maxBytes: number, announced: string | undefined) {
    this.#maxBytes = maxBytes;
    if (Number(announced ?? 0) > maxBytes) throw this.#tooLarge();
  }

  get all(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  add(chunk: Uint8Array): HttpError | undefined {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) return this.#tooLarge();
    if (length > this.#bytes.length) this.#bytes = Buffer.concat([this.all], Math.min(this.#maxBytes, 2 * length));
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
    return undefined;
  }

  #tooLarge(): HttpError {
    return new HttpError('body_too_large', `The body is larger than ${this.#maxBytes} bytes.`);
  }
}
