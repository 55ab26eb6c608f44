import { errorTable, PlantStoreError } from '../model/errors.ts';
import { HttpError } from './http-error.ts';
import type { ResponseCode } from './http-error.ts';

/** Alternating header names and values, in the format of node:http's `rawHeaders` and `writeHead`. */
export type HeaderList = readonly string[];

/** The result of an operation, before it is sent as a response. */
export interface Answer {
  readonly status: number;
  readonly headers?: HeaderList | undefined;
  /** JSON: a string, or a generator of pieces that are sent as they are produced. A generator is always closed. */
  readonly body?: string | AsyncGenerator<string, void, undefined>;
  /** The user whose plants are in the body. Bytes that the client does not read are counted for this user. */
  readonly user?: string;
  /** The code of the error in the body. */
  readonly error?: ResponseCode;
}

/** The headers of every response. Plants are private, and a browser must not guess a different media type. */
export const commonHeaders: HeaderList = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];
export const jsonHeaders: HeaderList = ['Content-Type', 'application/json', ...commonHeaders];

/** Returns the response for an error of this package. Any other error becomes a generic `internal` error. */
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

/** Returns the Error body as JSON. */
export function errorBody({ code, message }: PlantStoreError | HttpError): string {
  return JSON.stringify({ error: errorTable[code].error, message });
}
