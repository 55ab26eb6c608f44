import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorTable } from '../../core/model/errors.ts';
import type { HttpErrorCode } from '../../core/model/errors.ts';
import { bodyHeaders, errorBody } from '../answer.ts';
import { HttpError } from '../http-error.ts';
import { lastResponse, replaceWaiting, whenClosed } from './in-order.ts';

/** How long to drain input after the final response, in milliseconds. */
const lingerMs = 1000;

/** The connections that {@link refuseConnection} closes. */
const refused = new WeakSet<Duplex>();

/**
 * Sends an error response for input that node:http rejects, and closes the connection. Responses to earlier requests
 * are sent first. If the response to the rejected request has already begun, that response is completed instead and
 * then closes the connection, because the request was incomplete.
 */
export function refuseConnection(socket: Duplex, code: HttpErrorCode): void {
  // After an error, the parser reports another error on every read.
  if (refused.has(socket)) return;
  refused.add(socket);
  const last = lastResponse(socket);
  const refuse = (): void => {
    closeLingering(socket, rawAnswer(code));
  };
  if (last === undefined) refuse();
  else if (last.req.complete) whenClosed(last, refuse);
  else if (!last.headersSent && !replaceWaiting(socket, refuse)) refuse();
}

/**
 * Closes a connection whose client may still be sending data (RFC 9112 §9.6). Sends `finalResponse`, ends the writable
 * side, and then drains input for up to a second. Closing the connection immediately would cause a TCP reset, and the
 * client might not receive the response.
 */
export function closeLingering(socket: Duplex, finalResponse?: string): void {
  // The connection is destroyed or already being closed.
  if (!socket.writable) return;
  socket.end(finalResponse);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.resume();
}

/** Returns a complete HTTP response as a string, because node:http can reject input before a response object exists. */
function rawAnswer(code: HttpErrorCode): string {
  const { status } = errorTable[code];
  const body = errorBody(new HttpError(code));
  const headers = [...bodyHeaders(body), 'Connection', 'close'];
  const lines = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`;
}
