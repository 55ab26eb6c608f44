import { createServer } from 'node:http';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpErrorCode } from '../../core/model/errors.ts';
import { checkIntegerOption } from '../../core/model/options.ts';
import type { PlantStore } from '../../core/plant-store.ts';
import { connectionLimit, openFileLimit } from './connection-limit.ts';
import { evictConnections, openConnections } from './connections.ts';
import { lastResponse } from './in-order.ts';
import { createListenerWithPages } from './request-listener.ts';
import type { ServiceOptions } from '../service-options.ts';
import { refuseConnection } from './refuse-connection.ts';
import { deferContinue } from './request-body.ts';
import { maxHeaderFields } from './validation.ts';

/**
 * The node:http options of the server. The other settings are in `serverProperties`. The Limits section of
 * docs/http-api.md documents those that users may change.
 */
const serverOptions: ServerOptions & { readonly optimizeEmptyRequests: boolean } = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  // The interval in milliseconds at which node:http checks for timeouts; its default is 30 seconds.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
  // With `true`, node:http itself would respond to a request without a `Host` header, and the response would not have
  // an Error body.
  requireHostHeader: false,
  // With this option, a request without a body does not emit 'end' or 'close'. Older releases of Node.js ignore this
  // option.
  optimizeEmptyRequests: true,
};

const serverProperties = {
  // A connection is closed if no byte is sent or received for this long.
  timeout: 60_000,
  // One more than the number of fields that the listener accepts. On Node.js 22 and 24, node:http drops further fields
  // without an error.
  maxHeadersCount: maxHeaderFields + 1,
  // A client that has ended its side of the connection still receives the response.
  httpAllowHalfOpen: true,
};

/**
 * Creates a node:http server for the HTTP service. The server uses the listener that {@link createRequestListener}
 * creates. node:http itself refuses malformed requests, requests whose header is too large, and requests that time out.
 * The responses to these requests also have an Error body. Call `listen` to start the server and {@link drainServer} to
 * stop it.
 *
 * A client has 10 seconds to send a header and 30 seconds to send the whole request. To change the time limits, set the
 * `headersTimeout`, `requestTimeout`, `keepAliveTimeout` and `timeout` properties of the server.
 *
 * The server's `maxConnections` is 10,000, or less if the process cannot open enough files. 64 files are reserved for
 * the rest of the process. When more than 95% of `maxConnections` are open, the connection that has made no progress
 * for the longest time is closed, and the server emits `connectionEvicted`.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const server = createPlantServer(store, { authenticate });
 * server.listen(3000, '127.0.0.1');
 */
export function createPlantServer(store: PlantStore, options: ServiceOptions): Server {
  return createServerFor(createListenerWithPages(store, options, () => undefined, 'createPlantServer'));
}

/** Like {@link createPlantServer}, but for an existing listener. */
export function createServerFor(listener: RequestListener): Server {
  const maxConnections = connectionLimit(openFileLimit());
  const server = Object.assign(createServer(serverOptions), serverProperties, { maxConnections });
  evictConnections(server);
  server.on('request', listener);
  server.on('checkContinue', (request, response) => {
    deferContinue(request, response);
    server.emit('request', request, response);
  });
  // Unknown expectations are ignored, because a 417 response is optional (MAY in RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Without this listener, node:http would close the connection after a CONNECT request without sending a response.
  server.on('connect', (_, socket) => {
    // node:http has removed its own listeners from the socket, and can no longer send pending responses to earlier
    // requests.
    socket.on('error', () => socket.destroy());
    if (lastResponse(socket)?.destroyed === false) socket.destroy();
    else refuseConnection(socket, 'route_not_found');
  });
  server.on('clientError', (error, socket) => {
    refuseConnection(socket, clientErrorCode(error));
  });
  return server;
}

/**
 * How long a stopping server still reads requests from idle connections, in milliseconds. During this time, the
 * `Connection: close` header of a response tells a busy client that its connection is being closed. Without this delay,
 * requests that clients have sent but the server has not read would fail. With 16 busy clients, all 16 requests failed.
 */
const lingerMs = 100;

/**
 * Stops any node:http server gracefully: refuses new connections, adds `Connection: close` to all responses, finishes
 * requests in progress, and closes idle connections after 100 ms. After `graceMs` milliseconds, the remaining
 * connections are closed too. Resolves when all connections are closed.
 *
 * @throws {TypeError} if `graceMs` is not an integer from 0 to 2147483647.
 * @example
 * process.once('SIGTERM', async () => {
 *   await drainServer(server, 8000);
 *   await store.close();
 * });
 */
export async function drainServer(server: Server, graceMs: number): Promise<void> {
  checkIntegerOption('graceMs', graceMs, 0, 2_147_483_647);
  server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'));
  const connections = openConnections(server);
  for (const socket of connections.keys()) {
    const response = lastResponse(socket);
    if (response?.headersSent === false) response.setHeader('Connection', 'close');
  }
  const closed = stopListening(server);
  await sleep(Math.min(lingerMs, graceMs));
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, 20);
  const cut = setTimeout(
    () => {
      // closeAllConnections() does not close connections that have received a CONNECT request.
      for (const socket of connections.keys()) socket.destroy();
      server.closeAllConnections();
    },
    Math.max(graceMs - lingerMs, 0),
  );
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

/** Refuses new connections. The promise resolves when all connections are closed. */
function stopListening(server: Server): Promise<unknown> {
  // close() calls this method, which would also close connections with a request that has arrived but has not been
  // read.
  server.closeIdleConnections = () => undefined;
  const closed = new Promise((resolve) => server.close(resolve));
  Reflect.deleteProperty(server, 'closeIdleConnections');
  return closed;
}

function clientErrorCode({ code }: NodeJS.ErrnoException): HttpErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'header_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'malformed_request';
}
