import { createServer } from 'node:http';
import type { Server, ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../model/errors.ts';
import { checkIntegerOption } from '../../model/options.ts';
import type { PlantStore } from '../../store/plant-store.ts';
import { connectionLimit, openFileLimit } from './connection-limit.ts';
import { closeIdleConnections } from './idle-connections.ts';
import { drainResponses, lastResponse } from './in-order.ts';
import { createRequestListener } from './request-listener.ts';
import type { ServiceOptions } from '../service-options.ts';
import { refuseConnection } from './refuse-connection.ts';
import { oweContinue } from './request-body.ts';

/** All that is set of node:http is set here; README, "Security and limits", lists it. */
const serverOptions: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  // How often node:http looks whether a time is up; by default every 30 seconds.
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
  // node:http would answer without an Error body.
  requireHostHeader: false,
};

const serverProperties = {
  // A client that neither sends nor takes a byte for so long, while it is its turn, is gone.
  timeout: 60_000,
  // node:http would drop the headers past 2000 without a word, a second Host among them.
  maxHeadersCount: 0,
  // A client that says it has sent all gets its answer all the same.
  httpAllowHalfOpen: true,
};

/**
 * A node:http server for the whole service: the request listener, and an Error body for what
 * node:http refuses by itself (malformed requests, headers that are too large, timeouts). Call its
 * `listen`, and {@link drainServer} to stop it. A request has 10 seconds for its header and 30 for
 * the whole: set the server's own `headersTimeout`, `requestTimeout`, `keepAliveTimeout` and `timeout`
 * for other bounds.
 *
 * The server's `maxConnections` is 10,000, or less when the process may not have that many files open:
 * 64 files are left to the rest of the process. From 95 % of it on, the longest idle connections are
 * closed to make room, and the server emits `idleConnectionClosed` for each of them.
 *
 * @throws {TypeError} for a wrong option, which it names.
 */
export function createPlantServer(store: PlantStore, options: ServiceOptions): Server {
  const listener = createRequestListener(store, options);
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
    oweContinue(request, response);
    server.emit('request', request, response);
  });
  // An expectation that nobody knows is no reason to refuse (RFC 9110 §10.1.1: 417 is a MAY).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // node:http would close the connection without a word.
  server.on('connect', (_, socket) => {
    keepServing(socket);
    refuseConnection(socket, 'route_not_found');
  });
  server.on('clientError', (error, socket) => {
    const code = clientErrorCode(error);
    // It was not read because requests before it wait, which is not the client's fault. node:http reports this once.
    if (code === 'request_timeout' && socket.isPaused()) timeOutLater(server, socket);
    else refuseConnection(socket, code);
  });
  return server;
}

/** node:http lets go of the connection of a CONNECT, though answers to requests before it may be due. */
function keepServing(socket: Duplex): void {
  const destroy = (): void => { socket.destroy(); };
  socket.on('drain', () => { drainResponses(socket); }).on('timeout', destroy).on('error', destroy);
  // Who does not read does not see that the client has gone.
  socket.resume();
}

/**
 * Applies `requestTimeout` to a request whose time was up while its connection was paused: once the connection is read
 * again, the rest of the request has that time to arrive.
 */
function timeOutLater(server: Server, socket: Duplex): void {
  const last = lastResponse(socket);
  let wasPaused = true;
  let timer: NodeJS.Timeout;
  const check = (): void => {
    const current = lastResponse(socket);
    const isIncomplete = current?.req.complete === false || current === last;
    if (!isIncomplete) return;
    const isPaused = socket.isPaused();
    if (!isPaused && !wasPaused) {
      refuseConnection(socket, 'request_timeout');
      return;
    }
    wasPaused = isPaused;
    wait();
  };
  const wait = (): void => { timer = setTimeout(check, server.requestTimeout).unref(); };
  wait();
  socket.once('close', () => { clearTimeout(timer); });
}

const connectionsOf = new WeakMap<Server, Set<Socket>>();

/**
 * Stops a server: no new connections, requests under way are finished, idle connections closed.
 * What is not finished after `graceMs` milliseconds is cut off. Resolves when all are closed.
 *
 * @throws {TypeError} if the server was not made by {@link createPlantServer}, or if `graceMs` is not 0 to 2147483647.
 */
export async function drainServer(server: Server, graceMs: number): Promise<void> {
  const connections = connectionsOf.get(server);
  if (connections === undefined) throw new TypeError('drainServer must be given a server that createPlantServer made');
  checkIntegerOption('graceMs', graceMs, 0, 2_147_483_647);
  const closed = new Promise((resolve) => server.close(resolve));
  // So that no client sends its next request into a connection that is about to close.
  for (const socket of connections) {
    const response = lastResponse(socket);
    if (response?.headersSent === false) response.setHeader('Connection', 'close');
  }
  // close() ends the connections that are idle now; those that fall idle later are ended here.
  const sweep = setInterval(() => { server.closeIdleConnections(); }, 20);
  const cut = setTimeout(() => {
    server.closeAllConnections();
    // node:http does not know those of a CONNECT any more.
    for (const socket of connections) socket.destroy();
  }, graceMs);
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
