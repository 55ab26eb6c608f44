import type { ServerResponse } from 'node:http';
import { commonHeaders, jsonHeaders } from '../answer.ts';
import type { Answer } from '../answer.ts';
import type { UnsentBytes } from '../unsent-bytes.ts';

/**
 * How many UTF-16 code units are handed to a socket at once: 64 KiB of ASCII, the high-water mark of a socket. What
 * the client does not take of them stays in memory outside the heap.
 */
const maxPieceLength = 65_536;

/** Sends answers, and counts what their clients do not take. */
export class AnswerSender {
  readonly #unsent: UnsentBytes;

  constructor(unsent: UnsentBytes) {
    this.#unsent = unsent;
  }

  /** Writes an answer; resolves when all of it was handed to the socket or the client has gone. */
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
      for (let at = 0; at < page.length; ) {
        // First: a response that is closed already emits neither 'drain' nor 'close'.
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

  /** Counts the bytes that the socket did not pass on at once, until the response is closed. */
  #watchRest(response: ServerResponse, user: string): void {
    const { writableLength } = response;
    if (writableLength === 0 || response.destroyed) return;
    this.#unsent.set(response, user, writableLength);
    response.once('close', () => { this.#unsent.delete(response); });
  }
}

/**
 * Writes a piece, and passes it on to the kernel at once, where node:http would do so after this iteration: what is
 * pending afterwards waits for the client.
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

/** A piece of a text from `at` on. It does not end between the two surrogates of a character. */
function pieceAt(text: string, at: number): string {
  const end = at + maxPieceLength;
  const last = end < text.length ? text.charCodeAt(end - 1) : 0;
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return at === 0 && end >= text.length ? text : text.slice(at, isHighSurrogate ? end - 1 : end);
}

/** Resolves when the socket has room again or its client has gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.once('drain', settle).once('close', settle);
  });
}
