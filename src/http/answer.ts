import { errorTable, PlantStoreError } from '../model/errors.ts';

/** Names and values in turn, as node:http's `rawHeaders` and `writeHead` have them. */
export type HeaderList = readonly string[];

/** What an operation answers, before it is on the wire. */
export interface Answer {
  readonly status: number;
  readonly headers?: HeaderList | undefined;
  /** JSON: a whole text, or pieces that are sent as they come; their generator is always ended. */
  readonly body?: string | AsyncGenerator<string, void, undefined>;
  /** The user whose plants are in the body: what a client does not take of it counts as theirs. */
  readonly user?: string;
}

/** For every answer: plants are private, and what is sent is to be taken for nothing else. */
export const commonHeaders: HeaderList = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];
export const jsonHeaders: HeaderList = ['Content-Type', 'application/json', ...commonHeaders];

/** The wire's Error for an error of this package; anything else is a generic `internal`. */
export function errorAnswer(error: unknown, headers: HeaderList = []): Answer {
  const known = error instanceof PlantStoreError ? error : new PlantStoreError('internal');
  const { status } = errorTable[known.code];
  return {
    status,
    headers: status === 503 ? [...headers, 'Retry-After', '1'] : headers,
    body: errorBody(known),
  };
}

/** The JSON of the wire's Error. */
export function errorBody({ code, message }: PlantStoreError): string {
  return JSON.stringify({ error: errorTable[code].error, message });
}
