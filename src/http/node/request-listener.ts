import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlantStore } from '../../core/plant-store.ts';
import { isTraced, requestChannel } from '../../core/trace.ts';
import { createHandler } from '../handler.ts';
import type { Handler } from '../handler.ts';
import { HttpError } from '../http-error.ts';
import type { ServiceOptions } from '../service-options.ts';
import { inOrder, whenClosed } from './in-order.ts';
import { NodeRequest } from './node-request.ts';
import { closeLingering } from './refuse-connection.ts';
import { isBodyIncomplete } from './request-body.ts';
import { sendAnswer } from './send.ts';
import { refusalOf } from './validation.ts';

/** The maximum number of pipelined requests that can wait for earlier responses. Each waiting request uses 3 KiB. */
const maxWaiting = 10_000;

/**
 * Creates a node:http request listener for the HTTP service. The listener supports HTTP/1.1. It refuses HTTP/2 requests
 * from a node:http2 server.
 *
 * The listener is also a Connect middleware. It can be mounted in an Express-style app, at the root or under a prefix.
 * It must be mounted before any body parser. If it is called with a `next` function, it calls `next()` for paths that
 * the service does not handle. Without `next`, it responds to requests for such paths with 404.
 *
 * The requests of a connection are handled one after another. If a response is sent while the client may still be
 * sending its request, the connection is closed after this response. The listener does not change the server's
 * settings.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const plants = createRequestListener(store, { authenticate });
 * app.use('/garden', (request, response) => plants(request, response));
 */
export function createRequestListener(store: PlantStore, options: ServiceOptions): ServiceListener {
  return createListenerWithPages(store, options, () => undefined);
}

/** A node:http request listener. If it is called with `next`, it acts as a Connect middleware. */
export type ServiceListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

/**
 * Returns a function that sends the requested web page, or a file that a web page uses, as the whole response. Returns
 * `undefined` if the path does not name a page or file.
 */
export type FindPage = (request: IncomingMessage) => ((response: ServerResponse) => void) | undefined;

/**
 * Like {@link createRequestListener}, but the listener also serves web pages. Requests for web pages are also handled
 * in order, and refused if they are malformed. `owner` is the name of the public function that the application called.
 */
export function createListenerWithPages(
  store: PlantStore,
  options: ServiceOptions,
  findPage: FindPage,
  owner = 'createRequestListener',
): ServiceListener {
  const handler = createHandler(owner, store, options);

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytesBefore = isTraced(requestChannel) ? message.socket.bytesWritten : undefined;
    const refusal = refusalOf(message);
    const sendPage = refusal === undefined ? findPage(message) : undefined;
    if (sendPage !== undefined) {
      if (mustClose(message)) closeAfter(response);
      sendPage(response);
      return;
    }
    const answer = await handler.answer(new NodeRequest(message), refusal);
    // If the body has arrived with the header, node:http parses the body later in this event loop iteration. The
    // connection then does not have to be closed.
    if (isBodyIncomplete(message)) await nextTurn();
    let error: unknown;
    whenClosed(response, () => {
      const bytes = bytesBefore === undefined ? -1 : message.socket.bytesWritten - bytesBefore;
      // Some runtimes do not count the bytes that are written to a socket.
      answer.onEnd({ isComplete: response.writableFinished, error, bytes: bytes >= 0 ? bytes : undefined });
    });
    try {
      if (refusal !== undefined || mustClose(message)) closeAfter(response);
      const sending = sendAnswer(response, answer, message.method === 'HEAD');
      if (sending !== undefined) await sending;
    } catch (thrown) {
      error = thrown;
      // Part of the response might have been sent. The connection is closed so that the client does not mistake this
      // part for a complete response.
      response.destroy();
    }
  }

  const listener = inOrder((message, response) => void respond(message, response), maxWaiting);
  return (message, response, next) => {
    if (next !== undefined && !handler.hasRoute(message.url ?? '/')) next();
    // HTTP/2 connections cannot be paused. An HTTP/1.1 client can send any version number, but only node:http2 sets
    // `stream`.
    else if (message.httpVersionMajor >= 2 && 'stream' in message) void refuseHttp2(handler, message, response);
    else listener(message, response);
  };
}

/** Refuses an HTTP/2 request, and reports the error to the application that created the server. */
async function refuseHttp2(handler: Handler, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const refusal = new HttpError('malformed_request', 'This service supports HTTP/1.1, but not HTTP/2.');
  const answer = await handler.answer(new NodeRequest(message), refusal);
  void sendAnswer(response, answer, message.method === 'HEAD');
  const advice =
    'pass the listener to the createServer of node:http or node:https, and put a proxy in front for HTTP/2';
  answer.onEnd({ isComplete: true, error: new Error(`createRequestListener supports HTTP/1.1 only: ${advice}.`) });
}

/**
 * Returns whether the connection must be closed after the response. This is the case if part of the request might not
 * have arrived yet, or if the request asks to upgrade the connection. node:http drops data that arrives with an upgrade
 * request, and parses later data as a new request.
 */
function mustClose(message: IncomingMessage): boolean {
  return isBodyIncomplete(message) || message.headers.upgrade !== undefined;
}

function closeAfter(response: ServerResponse): void {
  response.setHeader('Connection', 'close');
  // node:http calls `destroySoon` to close a connection after its last response.
  const { socket } = response.req;
  socket.destroySoon = () => {
    closeLingering(socket);
  };
}
