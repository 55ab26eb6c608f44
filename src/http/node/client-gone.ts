import type { IncomingMessage, ServerResponse } from 'node:http';
import { isOpen } from './in-order.ts';

/**
 * Returns whether the client of a request has disconnected. Called once for each page of a list until the response
 * begins.
 *
 * A client that has ended its side of the connection may have closed the connection, or may still read the response.
 * TCP shows the difference only when data is sent. So this function sends an interim response, which every HTTP/1.1
 * client must accept (RFC 9110 §15.2). If the client has closed the connection, the next interim response fails.
 */
export function isClientGone({ socket, httpVersion }: IncomingMessage, response: ServerResponse): boolean {
  if (isOpen(socket) && socket.readableEnded && httpVersion === '1.1') response.writeContinue();
  return !isOpen(socket);
}
