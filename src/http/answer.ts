import { errorTable, PlantStoreError } from '../model/errors.ts';
import { HttpError } from './http-error.ts';
import type { ResponseCode } from './http-error.ts';

/** Alternating header names and values, in the format of node:http's `rawHeaders` and `writeHead`. */
export type HeaderList = readonly string[];

/** The result of an operation, before it is sent as a response. */
export interface Answer {
  readonly status: number;
  readonly headers?: HeaderList | undefined;
  /**
   * The JSON body: a string, or a generator that yields it in pieces. The code that sends the answer always closes the
   * generator.
   */
  readonly body?: string | AsyncGenerator<string, void, undefined>;
  /** The user whose plants the body contains. Bytes that the client has not read are counted for this user. */
  readonly user?: string;
  /** The code of the error that the body contains. */
  readonly error?: ResponseCode;
  /** The front calls this once: when it has sent the response, or when the client has disconnected. */
  readonly onEnd?: (sent: Sent) => void;
}

/** What became of an answer. */
export interface Sent {
  /** Whether the whole response was sent. */
  readonly isComplete: boolean;
  /** The number of bytes of the response, with its header, if the front can count them. */
  readonly bytes?: number;
}

/**
 * The headers that every response has. Plants are private, so they must not be cached. Browsers must not guess another
 * media type.
 */
export const commonHeaders: HeaderList = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];
export const jsonHeaders: HeaderList = ['Content-Type', 'application/json', ...commonHeaders];

/** Returns the answer for an error. An error that is not from this package becomes a generic `internal` error. */
export function errorAnswer(error: unknown, headers: HeaderList = []): Answer {
  const known = error instanceof PlantStoreError || error instanceof HttpError ? error : new HttpError('internal');
  const { status } = errorTable[known.code];
  return {
    status,
    headers: status === 503 ? [...headers, 'Retry-After', '1'] : headers,
    body: errorBody(known),
    error: known.code,
  };
}

/** Returns the JSON body of the response to an error. */
export function errorBody({ code, message }: PlantStoreError | HttpError): string {
  return JSON.stringify({ error: errorTable[code].error, message });
}
