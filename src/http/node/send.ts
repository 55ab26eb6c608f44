import type { ServerResponse } from 'node:http';
import type { FinalAnswer } from '../answer.ts';

/**
 * The maximum length of one piece of a response body, in UTF-16 code units. Longer bodies are sent in pieces, because
 * data that a client has not read stays in memory outside the heap.
 */
const maxPieceLength = 65_536;

/**
 * Sends an answer. If the body is sent in pieces, returns a promise that resolves when the whole answer has been
 * written to the response, or when the client has disconnected.
 */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: FinalAnswer,
  isHead: boolean,
): Promise<void> | undefined {
  if (response.destroyed) return undefined;
  response.writeHead(status, headers);
  if (typeof body === 'object' && !isHead) return sendPages(response, body);
  if (typeof body === 'string' && body.length > maxPieceLength && !isHead) return sendPages(response, [body]);
  response.end(isHead || typeof body === 'object' ? undefined : body);
  return undefined;
}

/** Sends pages with back-pressure. Returns early if the client disconnects. */
async function sendPages(response: ServerResponse, pages: AsyncIterable<string> | Iterable<string>): Promise<void> {
  for await (const page of pages) {
    for (const piece of piecesOf(page)) {
      // After a response is closed, it emits neither 'drain' nor 'close', so `drained` would never resolve.
      if (response.destroyed) return;
      if (!response.write(piece)) await drained(response);
    }
  }
  response.end();
}

/** Yields a text in pieces. A piece never ends in the middle of a surrogate pair. */
function* piecesOf(text: string): Generator<string, void, undefined> {
  for (let at = 0; at < text.length;) {
    let end = at + maxPieceLength;
    if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end--;
    yield text.slice(at, end);
    at = end;
  }
}

/** Resolves when the socket can accept data again or when the client has disconnected. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}
