import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorTable, PlantStoreError } from '../../model/errors.ts';
import type { ErrorCode } from '../../model/errors.ts';
import { errorBody, jsonHeaders } from '../answer.ts';
import { giveUp, lastResponse } from './in-order.ts';

/** For how long a connection is read for nothing behind the last answer. */
const lingerMs = 1000;

/** The connections that get a refusal as their last answer. */
const refused = new WeakSet<Duplex>();

/** The connections that are being closed. */
const closing = new WeakSet<Duplex>();

/**
 * Answers what node:http could not make a request of, and closes the connection: behind the answers
 * that are due, and without an answer of its own where that to its request is on its way already.
 */
export function refuseConnection(socket: Duplex, code: ErrorCode): void {
  // A parser that has failed fails again at every read.
  if (refused.has(socket) || closing.has(socket)) return;
  refused.add(socket);
  const last = lastResponse(socket);
  const refuse = (): void => { closeLingering(socket, rawAnswer(code)); };
  if (!socket.writable) {
    closeLingering(socket);
  } else if (last === undefined) {
    refuse();
  } else if (last.req.complete) {
    after(last, refuse);
  } else if (last.headersSent) {
    after(last, () => { closeLingering(socket); });
  } else {
    const before = giveUp(last);
    if (before === undefined) refuse();
    else after(before, refuse);
  }
}

function after(response: ServerResponse, work: () => void): void {
  if (response.destroyed) work();
  else response.once('close', work);
}

/**
 * Closes a connection whose client may still be sending (RFC 9112 §9.6): says that nothing more
 * comes, and reads on for a while. Closed at once it would be reset, and the reset can overtake the
 * answer that tells why.
 */
export function closeLingering(socket: Duplex, lastWords?: string): void {
  if (socket.destroyed || closing.has(socket)) return;
  closing.add(socket);
  const destroy = (): void => { socket.destroy(); };
  if (socket.writable) socket.end(lastWords, socket.readableEnded ? destroy : undefined);
  const timer = setTimeout(destroy, lingerMs);
  socket.once('end', destroy).once('close', () => { clearTimeout(timer); });
  socket.resume();
}

/** A whole answer as bytes: there is no response object where there was no request. */
function rawAnswer(code: ErrorCode): string {
  const { status } = errorTable[code];
  const body = errorBody(new PlantStoreError(code));
  const headers = [...jsonHeaders, 'Content-Length', `${Buffer.byteLength(body)}`, 'Connection', 'close'];
  const lines = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`;
}
