import type { ServerResponse } from 'node:http';
import type { Answer, Pages } from '../exchange.ts';

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
