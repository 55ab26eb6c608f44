import { createServer } from 'node:http';
import type { RequestListener, Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { HttpErrorCode } from '../../model/errors.ts';
import { checkIntegerOption } from '../../model/options.ts';
import type { PlantStore } from '../../store/plant-store.ts';
import { connectionLimit, openFileLimit } from './connection-limit.ts';
import { closeIdleConnections } from './idle-connections.ts';
import { drainResponses, lastResponse } from './in-order.ts';
import { createRequestListener } from './request-listener.ts';
import type { ServiceOptions } from '../service-options.ts';
import { refuseConnection } from './refuse-connection.ts';
import { deferContinue } from './request-body.ts';

/** All node:http settings are here and in `serverProperties`. docs/limits.md lists them. */
const serverOptions: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  // How often node:http checks for timeouts; the default is 30 seconds.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
  // With `true`, node:http itself would respond to a missing Host, without an Error body.
  requireHostHeader: false,
};

const serverProperties = {
  // A connection on which no byte is sent or received for this long is closed.
  timeout: 60_000,
  // By default, node:http silently drops all headers after the 2000th, even a second Host.
  maxHeadersCount: 0,
  // A client that has ended its side of the connection still gets its response.
  httpAllowHalfOpen: true,
};

/**
 * Creates a node:http server for the whole service. It uses the request listener, and sends an Error body
 * for what node:http itself refuses: malformed requests, headers that are too large, and timeouts. Call
 * `listen` to start it and {@link drainServer} to stop it. A client has 10 seconds to send a header and 30 to
 * send the whole request. To change these limits, set the server's `headersTimeout`, `requestTimeout`,
 * `keepAliveTimeout` and `timeout`.
 *
 * The server's `maxConnections` is 10,000, or less if the process may not open that many files: 64 files
 * are reserved for the rest of the process. When more than 95 % of `maxConnections` are open, the longest
 * idle connections are closed, and the server emits `idleConnectionClosed` for each of them.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const server = createPlantServer(store, { authenticate });
 * server.listen(3000, '127.0.0.1');
 */
export function createPlantServer(store: PlantStore, options: ServiceOptions): Server {
  return createServerFor(createRequestListener(store, options));
}

/** Creates a server like {@link createPlantServer} for a request listener of the service. */
export function createServerFor(listener: RequestListener): Server {
  const maxConnections = connectionLimit(openFileLimit());
  const server = Object.assign(createServer(serverOptions), serverProperties, { maxConnections });
  const connections = new Set<Socket>();
  connectionsOf.set(server, connections);
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  closeIdleConnections(server, connections);
  server.on('request', (request, response) => {
    if (!server.listening) response.setHeader('Connection', 'close');
    listener(request, response);
  });
  server.on('checkContinue', (request, response) => {
    deferContinue(request, response);
    server.emit('request', request, response);
  });
  // Unknown expectations are ignored: a 417 response is optional (RFC 9110 §10.1.1: MAY).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Without this listener, node:http would close the connection without a response.
  server.on('connect', (_, socket) => {
    keepServing(socket);
    refuseConnection(socket, 'route_not_found');
  });
  server.on('clientError', (error, socket) => {
    const code = clientErrorCode(error);
    // The connection is paused because requests wait, so the client did not cause this timeout. It is emitted once.
    if (code === 'request_timeout' && socket.isPaused()) timeOutLater(server, socket);
    else refuseConnection(socket, code);
  });
  return server;
}

/** Handles the connection of a CONNECT request. node:http detaches from it, although responses may be pending. */
function keepServing(socket: Duplex): void {
  const destroy = (): void => {
    socket.destroy();
  };
  socket
    .on('drain', () => {
      drainResponses(socket);
    })
    .on('timeout', destroy)
    .on('error', destroy);
  // A paused socket does not notice a disconnect.
  socket.resume();
}

/**
 * Applies `requestTimeout` to a request that timed out while its connection was paused. Once the connection is resumed,
 * the rest of the request must arrive within that time.
 */
function timeOutLater(server: Server, socket: Duplex): void {
  const last = lastResponse(socket);
  const isBodyLate = last?.req.complete === false;
  let wasPaused = true;
  let timer: NodeJS.Timeout;
  const check = (): void => {
    // A request whose header was late has no response until the header is complete.
    const isIncomplete = isBodyLate ? !last.req.complete : lastResponse(socket) === last;
    if (!isIncomplete) return;
    const isPaused = socket.isPaused();
    if (!isPaused && !wasPaused) {
      refuseConnection(socket, 'request_timeout');
      return;
    }
    wasPaused = isPaused;
    wait();
  };
  // 0 disables a timeout of node:http. One of the two is set, because a request has timed out.
  const timeoutMs = server.requestTimeout === 0 ? server.headersTimeout : server.requestTimeout;
  const wait = (): void => {
    timer = setTimeout(check, timeoutMs).unref();
  };
  wait();
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

const connectionsOf = new WeakMap<Server, Set<Socket>>();

/**
 * Stops a server gracefully: refuses new connections, closes idle ones and finishes requests in progress.
 * After `graceMs` milliseconds the remaining connections are closed too. Resolves when all are closed.
 *
 * @throws {TypeError} if the server was not made by {@link createPlantServer}, or if `graceMs` is not 0 to 2147483647.
 * @example
 * process.once('SIGTERM', async () => {
 *   await drainServer(server, 8000);
 *   await store.close();
 * });
 */
export async function drainServer(server: Server, graceMs: number): Promise<void> {
  const connections = connectionsOf.get(server);
  if (connections === undefined) throw new TypeError('drainServer must be given a server that createPlantServer made');
  checkIntegerOption('graceMs', graceMs, 0, 2_147_483_647);
  const closed = new Promise((resolve) => server.close(resolve));
  // Tells clients not to send another request on a connection that will be closed.
  for (const socket of connections) {
    const response = lastResponse(socket);
    if (response?.headersSent === false) response.setHeader('Connection', 'close');
  }
  // close() closes the connections that are idle now. This interval closes those that become idle later.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, 20);
  const cut = setTimeout(() => {
    server.closeAllConnections();
    // node:http no longer tracks the connections of CONNECT requests.
    for (const socket of connections) socket.destroy();
  }, graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

/** Maps the code of a node:http error to a code of this package. */
function clientErrorCode({ code }: NodeJS.ErrnoException): HttpErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'header_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  return 'malformed_request';
}
