import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorTable, PlantStoreError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import type { PlantStore } from '../plant-store.ts';
import { errorAnswer, errorBody, jsonHeaders, sendAnswer } from './answer.ts';
import { createRequestListener } from './listener.ts';
import type { RequestListenerOptions } from './listener.ts';

const serverOptions: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // How often node:http looks whether a time is up; by default every 30 seconds.
  connectionsCheckingInterval: 1000,
  // node:http would answer without an Error body.
  requireHostHeader: false,
};

/**
 * A node:http server for the whole service: the request listener, and an Error body for what
 * node:http refuses by itself (malformed requests, headers that are too large, timeouts). Call its
 * `listen`, and {@link drainServer} to stop it. A request has 10 seconds for its header and 30 for
 * the whole: set the server's own `headersTimeout` and `requestTimeout` for other bounds.
 *
 * @throws {TypeError} for a wrong option, which it names.
 */
export function createPlantServer(store: PlantStore, options: RequestListenerOptions): Server {
  const listener = createRequestListener(store, options);
  const exchanges: Exchanges = new Map();
  const forget = (response: ServerResponse): void => {
    const { socket } = response.req;
    if (exchanges.get(socket) === response) exchanges.delete(socket);
  };
  // One function for all responses: a closure for each costs a microsecond a request.
  function forgetWhenOver(this: ServerResponse): void {
    // The answer to a body that still comes is not to be followed by a second one.
    if (this.req.complete) forget(this);
    else this.req.once('close', () => { forget(this); });
  }
  const server = createServer(serverOptions, (request, response) => {
    exchanges.set(request.socket, response);
    response.on('close', forgetWhenOver);
    if (!server.listening) response.setHeader('Connection', 'close');
    if (isMalformed(request)) refuseRequest(response);
    else listener(request, response);
  });
  // An expectation that nobody knows is no reason to refuse (RFC 9110 §10.1.1: 417 is a MAY).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // node:http would close the connection without a word.
  server.on('connect', (_, socket) => socket.end(rawAnswer('route_not_found')));
  server.on('clientError', (error, socket) => { refuseClient(error, socket, exchanges.get(socket)); });
  exchangesOf.set(server, exchanges);
  return server;
}

/** The last response of each connection, until it is out. */
type Exchanges = Map<Duplex, ServerResponse>;

const exchangesOf = new WeakMap<Server, Exchanges>();

/** What node:http lets through: no Host (RFC 9112 §3.2), and transfer codings it does not decode (§6.1). */
function isMalformed({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return (headers.host === undefined && httpVersion === '1.1') || (coding !== undefined && coding.toLowerCase() !== 'chunked');
}

function refuseRequest(response: ServerResponse): void {
  void sendAnswer(response, errorAnswer(new PlantStoreError('malformed_request'), ['Connection', 'close']), false);
}

/** Answers what node:http could not make a request of, and closes the connection. */
function refuseClient(error: NodeJS.ErrnoException, socket: Duplex, response: ServerResponse | undefined): void {
  const answer = rawAnswer(clientErrorCode(error));
  if (!socket.writable) {
    socket.destroy();
  } else if (response === undefined) {
    socket.end(answer);
  } else if (response.writableFinished) {
    socket.destroy();
  } else if (response.req.complete) {
    // What is wrong stands behind a good request, which gets its answer first.
    response.once('close', () => socket.destroy());
  } else if (response.headersSent || response.socket !== socket) {
    socket.destroy();
  } else {
    socket.end(answer, () => socket.destroy());
  }
}

/**
 * Stops a server: no new connections, requests under way are finished, idle connections closed.
 * What is not finished after `graceMs` milliseconds is cut off. Resolves when all are closed.
 */
export async function drainServer(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  // So that no client sends its next request into a connection that is about to close.
  for (const response of exchangesOf.get(server)?.values() ?? []) {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }
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
  const headers = [...jsonHeaders, 'Content-Length', `${Buffer.byteLength(body)}`, 'Connection', 'close'];
  const lines = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${body}`;
}
