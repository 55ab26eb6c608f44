import type { ServerResponse } from 'node:http';
import { errorTable, PlantStoreError } from '../errors.ts';

/** Names and values in turn, as node:http's `rawHeaders` and `writeHead` have them. */
export type HeaderList = readonly string[];

/** What an operation answers, before it is on the wire. */
export interface Answer {
  readonly status: number;
  readonly headers?: HeaderList | undefined;
  /** JSON: a whole text, or pieces that are sent as they come; their generator is always ended. */
  readonly body?: string | AsyncGenerator<string, void, undefined>;
}

/** For every answer: plants are private, and what is sent is to be taken for nothing else. */
const commonHeaders: HeaderList = ['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'];
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

/** Writes an answer; resolves when all of it was handed to the socket or the client has gone. */
export async function sendAnswer(response: ServerResponse, answer: Answer, isHead: boolean): Promise<void> {
  const { status, headers = [], body } = answer;
  if (response.destroyed) {
    if (typeof body === 'object') await body.return();
    return;
  }
  if (body === undefined) {
    response.writeHead(status, [...commonHeaders, ...headers]).end();
    return;
  }
  if (typeof body === 'string') {
    response.writeHead(status, [...jsonHeaders, 'Content-Length', `${Buffer.byteLength(body)}`, ...headers]);
    response.end(isHead ? undefined : body);
    return;
  }
  response.writeHead(status, [...jsonHeaders, ...headers]);
  if (isHead) {
    response.end();
    await body.return();
    return;
  }
  await sendPieces(response, body);
}

async function sendPieces(response: ServerResponse, pieces: AsyncGenerator<string, void, undefined>): Promise<void> {
  for await (const piece of pieces) {
    // First: of a response that is gone already, neither 'drain' nor 'close' would ever come.
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Resolves when there is room again or nobody left to write to. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}
