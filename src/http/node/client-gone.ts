import type { IncomingMessage, ServerResponse } from 'node:http';
import { isOpen } from './in-order.ts';

/**
 * Returns whether the client of a request has disconnected. While a long list is being prepared, this function is
 * called after each page.
 *
 * After a client has ended its side of the connection, it may still be reading the response, or it may have closed the
 * connection. TCP reveals the difference only when data is sent. Therefore, this function sends an interim response,
 * which every HTTP/1.1 client must accept (RFC 9110 §15.2). If the client has closed the connection, TCP then resets
 * the connection, and a later call returns `true`.
 */
export function isClientGone({ socket, httpVersion }: IncomingMessage, response: ServerResponse): boolean {
  if (isOpen(socket) && socket.readableEnded && httpVersion === '1.1') response.writeContinue();
  return !isOpen(socket);
}
