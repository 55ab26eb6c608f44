import { createServer, STATUS_CODES } from 'node:http';
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorTable, PlantStoreError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import type { PlantStore } from '../plant-store.ts';
import { commonHeaders, errorBody } from './answer.ts';
import { createRequestListener } from './listener.ts';
import type { RequestListenerOptions } from './listener.ts';

/**
 * A node:http server for the whole service: the request listener, and an Error body for what
 * node:http refuses by itself (malformed requests, headers that are too large, timeouts). Call its
 * `listen`, and {@link drainServer} to stop it.
 *
 * @throws {TypeError} for a wrong option, which it names.
 */
export function createPlantServer(store: PlantStore, options: RequestListenerOptions): Server {
  const listener = createRequestListener(store, options);
  /** Connections with an answer under way, which another one must not be mixed into. */
  const answering = new WeakSet<Duplex>();
  const server = createServer((request, response) => {
    answering.add(request.socket);
    response.once('close', () => answering.delete(request.socket));
    // While draining, so that the client does not send its next request into a closing connection.
    if (!server.listening) response.setHeader('Connection', 'close');
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || answering.has(socket)) socket.destroy();
    else socket.end(rawAnswer(clientErrorCode(error)));
  });
  return server;
}

/**
 * Stops a server: no new connections, requests under way are finished, idle connections closed.
 * What is not finished after `graceMs` milliseconds is cut off. Resolves when all are closed.
 */
export async function drainServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  // close() ends the connections that are idle now; those that fall idle later are ended here.
  const sweep = setInterval(() => { server.closeIdleConnections(); }, 20);
  const cut = setTimeout(() => { server.closeAllConnections(); }, graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

/** The codes by which node:http names what it refuses. */
function clientErrorCode({ code }: NodeJS.ErrnoException): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'header_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'malformed_request';
}

/** A whole answer as bytes: there is no response object where there was no request. */
function rawAnswer(code: ErrorCode): string {
  const { status } = errorTable[code];
  const body = errorBody(new PlantStoreError(code));
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...commonHeaders,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}
