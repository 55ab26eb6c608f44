import { errorTable, isPlantStoreError } from '../core/model/errors.ts';
import type { PlantStoreError } from '../core/model/errors.ts';
import { HttpError } from './http-error.ts';
import type { ResponseCode } from './http-error.ts';

/** Headers as alternating names and values, the format that `rawHeaders` and `writeHead` of node:http use. */
export type HeaderList = readonly string[];

/** The result of an operation, before it is sent as a response. */
export interface Answer {
  readonly status: number;
  readonly headers?: HeaderList | undefined;
  /**
   * The JSON body: a string, or a generator that yields the body page by page. For a HEAD request, the generator is not
   * started.
   */
  readonly body?: string | AsyncGenerator<string, void, undefined> | undefined;
  /** The error code, if this is an error response. */
  readonly error?: ResponseCode;
}

/** An answer to a request, with all headers except those that the server adds. */
export interface FinalAnswer extends Pick<Answer, 'status' | 'body'> {
  readonly headers: string[];
  /**
   * Must be called once: when the response has been sent, when it could not be sent, or when the client has
   * disconnected.
   */
  readonly onEnd: (sent: Sent) => void;
}

/** The outcome of sending an answer. */
export interface Sent {
  /** Whether the whole response was sent. */
  readonly isComplete: boolean;
  /** The size of the response in bytes, including the header. Absent if the size is unknown. */
  readonly bytes?: number | undefined;
  /** The error that interrupted the response. */
  readonly error?: unknown;
}

/**
 * The headers of every response. Plants are private, so responses must not be cached. Browsers must not guess the media
 * type.
 */
const commonHeaders: HeaderList = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];
const jsonHeaders: HeaderList = ['Content-Type', 'application/json', ...commonHeaders];

/** Returns the headers that every response with the given body has. */
export function bodyHeaders(body: Answer['body']): string[] {
  if (body === undefined) return [...commonHeaders];
  return typeof body === 'string' ? [...jsonHeaders, 'Content-Length', `${Buffer.byteLength(body)}`] : [...jsonHeaders];
}

/** Returns the `Answer` for an error. An error that is not from this package becomes a generic `internal` error. */
export function errorAnswer(error: unknown, headers: HeaderList = []): Answer {
  const known = isPlantStoreError(error) || error instanceof HttpError ? error : new HttpError('internal');
  const { status } = errorTable[known.code];
  return {
    status,
    headers: status === 503 ? [...headers, 'Retry-After', '1'] : headers,
    body: errorBody(known),
    error: known.code,
  };
}

export function errorBody({ code, message }: PlantStoreError | HttpError): string {
  return JSON.stringify({ error: errorTable[code].number, message });
}
