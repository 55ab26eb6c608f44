import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { errorTable } from '../../core/model/errors.ts';
import type { ErrorCode } from '../../core/model/errors.ts';
import { checkIntegerOption, checkOptionNames } from '../../boundary/options.ts';
import { bodyHeaders, errorBody, HttpError } from '../exchange.ts';
import type { ServiceOptions, ServiceStore } from '../options.ts';
import { closeAfter, connectionLimit, currentResponse, drainAndDestroy } from './connections.ts';
import { manageConnections, openConnections } from './connections.ts';
import { createRequestListener, maxFields } from './listener.ts';

const serverOptions: ServerOptions & { readonly optimizeEmptyRequests: boolean } = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  // node:http checks for timeouts every 30 seconds by default.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
  // A request without a body then emits no events, which saves CPU time.
  optimizeEmptyRequests: true,
};

const serverProperties = {
  // During a request, a connection is closed if no byte is sent or received for about this long.
  timeout: 60_000,
  // node:http keeps each field of an incomplete header as two strings, so many short fields use much memory. One field
  // more than the limit is kept, so that every version of Node.js shows that there are too many.
  maxHeadersCount: maxFields + 1,
  // A client that has ended its side of the connection still receives the response.
  httpAllowHalfOpen: true,
};

/**
 * Creates a node:http server with the listener that {@link createRequestListener} creates. node:http itself refuses
 * requests that are malformed or too slow, or whose header is too large. Most of these responses have an Error body.
 * Call `listen` to start the server and {@link drainServer} to stop it.
 *
 * A client has about 10 seconds to send a header and 30 seconds to send the whole request. At most 10,000 connections
 * can be open, or fewer if the process cannot open enough files. docs/http-api.md lists the limits and the options.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const server = createPlantServer(store, { authenticate });
 * server.listen(3000, '127.0.0.1');
 */
export function createPlantServer(store: ServiceStore, options: ServiceOptions<IncomingMessage>): Server {
  return createServerFor(createRequestListener(store, options));
}

export function createServerFor(listener: (...call: Parameters<RequestListener>) => unknown): Server {
  const server = createServer(serverOptions);
  Object.assign(server, serverProperties, { maxConnections: connectionLimit() });
  manageConnections(server);
  server.on('request', listener);
  server.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
    const response = currentResponse(socket);
    if (response !== undefined && (response.headersSent || response.req.complete)) {
      // The connection is closed after the response.
      socket.pause();
      closeAfter(response, socket);
    } else if (socket.writable) {
      socket.write(rawResponse(clientErrors[code] ?? 'malformed_request'));
      drainAndDestroy(socket);
    }
  });
  return server;
}

/** Maps error codes of node:http to those of the service. Any other error is reported as `malformed_request`. */
const clientErrors: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'header_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Returns an error response as text, because node:http creates no ServerResponse for input that it rejects. */
function rawResponse(code: ErrorCode): string {
  const { status } = errorTable[code];
  const body = errorBody(new HttpError(code));
  const headers = Object.entries({ ...bodyHeaders(body), Connection: 'close' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`;
}

/** Idle connections of a stopping server are kept for this long: their clients may be about to send a request. */
const lingerMs = 1000;

/**
 * Stops a node:http server gracefully: refuses new connections, finishes requests in progress, and closes each
 * connection after its response. Responses get `Connection: close`, unless their header has been sent. Idle connections
 * are closed after a second, so that a client that is about to send a request still receives a response. After
 * `graceMs` milliseconds, by default 8000, the remaining connections are closed too. Resolves when all connections are
 * closed, with the number of connections that were closed although they were in use.
 *
 * The server can be any node:http server. If it was not created by {@link createPlantServer}, a connection with a
 * response in progress is closed when it is idle, and a client that reads slowly can lose the end of its response.
 * WebSockets and other upgraded connections must be closed by the application.
 *
 * @throws {TypeError} if `graceMs` is not an integer from 0 to 2147483647.
 * @example
 * process.once('SIGTERM', async () => {
 *   await drainServer(server);
 *   await store.close();
 * });
 */
export async function drainServer(
  server: Server,
  options: { readonly graceMs?: number | undefined } = {},
): Promise<number> {
  checkOptionNames('drainServer', options, ['graceMs']);
  const { graceMs = 8000 } = options;
  checkIntegerOption('graceMs', graceMs, 0, 2_147_483_647);
  server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
  for (const socket of openConnections(server).keys()) {
    const response = currentResponse(socket);
    if (response?.headersSent === false) response.setHeader('Connection', 'close');
  }
  // close() calls this method, which would also close connections whose next request has not been read yet.
  server.closeIdleConnections = () => undefined;
  const closed = new Promise((resolve) => server.close(resolve));
  Reflect.deleteProperty(server, 'closeIdleConnections');
  const startMs = performance.now();
  let inUse = 0;
  const sweep = setInterval(() => {
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= Math.min(lingerMs, graceMs)) closeIdle(server);
    if (elapsedMs < graceMs) return;
    server.getConnections((_, count) => {
      inUse ||= count;
    });
    server.closeAllConnections();
  }, 20);
  await closed;
  clearInterval(sweep);
  return inUse;
}

function closeIdle(server: Server): void {
  const sockets = [...openConnections(server).keys()];
  // Before version 26, Node.js does not consider a connection idle if it has not received any request.
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  // Node.js closes a connection whose response is `finished`, which means written, even if it has not been sent.
  const responses = sockets.flatMap((socket) => currentResponse(socket) ?? []);
  const sending = responses.filter(({ writableEnded }) => writableEnded);
  for (const response of sending) Object.assign(response, { finished: false });
  server.closeIdleConnections();
  for (const response of sending) Object.assign(response, { finished: true });
}
