import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorTable } from '../../core/model/errors.ts';
import type { ErrorCode } from '../../core/model/errors.ts';
import { bodyHeaders, errorBody, HttpError } from '../exchange.ts';
import type { Answer, Pages } from '../exchange.ts';

/** How long to drain input after the final response, in milliseconds. */
const lingerMs = 1000;

/** For a long list, returns a promise that resolves when all pages have been written. */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body }: Answer,
  isHead: boolean,
): Promise<void> | undefined {
  if (response.destroyed) return undefined;
  response.writeHead(status, headers);
  if (isHead || body === undefined) response.end();
  else if (typeof body === 'string' || 'byteLength' in body) response.end(body);
  else return sendPages(response, body);
  return undefined;
}

/** Sends pages with back-pressure. Returns early if the client disconnects. */
async function sendPages(response: ServerResponse, pages: Pages): Promise<void> {
  for await (const page of pages) {
    // After a response is closed, it emits neither 'drain' nor 'close', so `drained` would never resolve.
    if (response.destroyed) return;
    if (!response.write(page) && !(await drained(response))) return;
  }
  response.end();
}

/** Resolves with `true` when the socket can accept data again, or with `false` when the client has disconnected. */
function drained(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve(!response.destroyed);
    };
    response.once('drain', settle).once('close', settle);
  });
}

/**
 * Sends an error response for input that node:http has rejected, and drains input for up to a second (RFC 9112 §9.6).
 * Closing the connection immediately would cause a TCP reset, and the client might not receive the response.
 */
export function refuseConnection(socket: Duplex, code: ErrorCode): void {
  const { status } = errorTable[code];
  const body = errorBody(new HttpError(code));
  const headers = [...bodyHeaders(body), 'Connection', 'close'];
  const lines = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.resume();
}
