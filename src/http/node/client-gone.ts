import type { IncomingMessage, ServerResponse } from 'node:http';
import { isOpen } from './in-order.ts';

/**
 * Returns whether the client of a request has disconnected. Called after each page of a list that is read before the
 * response begins.
 *
 * If a client has ended its side of the connection, it may have closed the connection or may still read the response.
 * TCP shows the difference only when data is sent. So this function sends an interim response, which every HTTP/1.1
 * client must accept (RFC 9110 §15.2). If the client has closed the connection, TCP then resets it, and a later call
 * returns `true`.
 */
export function isClientGone({ socket, httpVersion }: IncomingMessage, response: ServerResponse): boolean {
  if (isOpen(socket) && socket.readableEnded && httpVersion === '1.1') response.writeContinue();
  return !isOpen(socket);
}
