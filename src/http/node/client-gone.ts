import type { IncomingMessage, ServerResponse } from 'node:http';
import { isOpen } from './in-order.ts';

/**
 * Whether the client of a request has gone, asked once for each page of a list whose answer has not begun.
 *
 * A client that has ended its side of the connection may have closed it, or may still read the answer. TCP tells the
 * difference only when something is sent, so such a client gets an interim response, which every HTTP/1.1 client has to
 * accept (RFC 9110 §15.2): if the connection is closed, the next one fails.
 */
export function isClientGone({ socket, httpVersion }: IncomingMessage, response: ServerResponse): boolean {
  if (isOpen(socket) && socket.readableEnded && httpVersion === '1.1') response.writeContinue();
  return !isOpen(socket);
}
