import type { ServerResponse } from 'node:http';
import { commonHeaders, jsonHeaders } from '../answer.ts';
import type { Answer } from '../answer.ts';
import { maxPieceLength, pieceAt } from '../piece.ts';
import type { UnsentBytes } from '../unsent-bytes.ts';

/** Sends answers and counts the bytes that clients have not read. */
export class AnswerSender {
  readonly #unsent: UnsentBytes;

  constructor(unsent: UnsentBytes) {
    this.#unsent = unsent;
  }

  /**
   * Sends an answer. Resolves when the whole answer has been written to the socket, or when the client has
   * disconnected.
   */
  async send(response: ServerResponse, answer: Answer, isHead: boolean): Promise<void> {
    const { status, headers = [], body, user = '' } = answer;
    if (body === undefined) {
      response.writeHead(status, [...commonHeaders, ...headers]).end();
      return;
    }
    const length = typeof body === 'string' ? ['Content-Length', `${Buffer.byteLength(body)}`] : [];
    response.writeHead(status, [...jsonHeaders, ...length, ...headers]);
    if (isHead) response.end();
    else if (typeof body !== 'string') await this.#sendPages(response, body, user);
    else if (body.length <= maxPieceLength) response.end(body);
    else await this.#sendPages(response, [body], user);
    this.#watchRest(response, user);
  }

  async #sendPages(
    response: ServerResponse,
    pages: AsyncIterable<string> | Iterable<string>,
    user: string,
  ): Promise<void> {
    for await (const page of pages) {
      for (let at = 0; at < page.length;) {
        // After a response is closed, it emits neither 'drain' nor 'close', so `drained` would never resolve.
        if (response.destroyed) return;
        const piece = pieceAt(page, at);
        at += piece.length;
        if (writeNow(response, piece)) continue;
        this.#unsent.set(response, user, response.writableLength + page.length - at);
        await drained(response);
        this.#unsent.delete(response);
      }
    }
    response.end();
  }

  /** Until the response is closed, counts the bytes that the socket could not send immediately. */
  #watchRest(response: ServerResponse, user: string): void {
    const { writableLength } = response;
    if (writableLength === 0 || response.destroyed) return;
    this.#unsent.set(response, user, writableLength);
    response.once('close', () => {
      this.#unsent.delete(response);
    });
  }
}

/**
 * Writes a piece and flushes it to the kernel immediately. By default, node:http flushes data later. If data is still
 * buffered after the flush, the client has not read earlier data.
 *
 * @returns whether the next piece can be written now.
 */
function writeNow(response: ServerResponse, piece: string): boolean {
  const { socket } = response;
  socket?.cork();
  const hasRoom = response.write(piece);
  socket?.uncork();
  return hasRoom || response.writableLength === 0;
}

/** Resolves when the socket can accept data again or the client has disconnected. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}
