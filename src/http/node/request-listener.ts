import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { requestChannel } from '../../model/diagnostics.ts';
import type { PlantStore } from '../../store/plant-store.ts';
import type { Answer, Sent } from '../answer.ts';
import { createHandler } from '../handler.ts';
import type { ServiceOptions } from '../service-options.ts';
import { http1Only } from './http1-only.ts';
import { inOrder } from './in-order.ts';
import { NodeRequest } from './node-request.ts';
import { closeLingering } from './refuse-connection.ts';
import { hasEndlessBody } from './request-body.ts';
import { AnswerSender } from './send-answer.ts';
import { isMalformed } from './validation.ts';

/** The maximum number of waiting pipelined requests, as a multiple of `maxInFlight`. */
const maxWaitingFactor = 10;

/**
 * Creates a node:http request listener for the HTTP service. The listener supports HTTP/1.1. It refuses HTTP/2 requests
 * from a node:http2 server.
 *
 * The listener is also a Connect middleware. It can be mounted in an Express-style app, at the root or under a prefix,
 * before any body parser. If it is called with a `next` function, it calls `next()` for paths that the service does not
 * handle. Without `next`, it responds to requests for such paths with 404.
 *
 * The requests of a connection are handled one after another. If a response is sent while the client may still be
 * sending its request, the connection is closed after this response. The listener does not change the settings of the
 * server.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * app.use('/garden', createRequestListener(store, { authenticate }));
 */
export function createRequestListener(store: PlantStore, options: ServiceOptions): ServiceListener {
  return createListenerWithPages(store, options, () => undefined);
}

/** A node:http request listener. If it is called with `next`, it acts as a Connect middleware. */
export type ServiceListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

/** Sends a web page, or a file that a web page uses, as the whole response. */
export type SendPage = (response: ServerResponse) => void;

/** Returns a function that sends the requested web page or file, or `undefined` if the path does not belong to one. */
export type FindPage = (request: IncomingMessage) => SendPage | undefined;

/**
 * Like {@link createRequestListener}, but the listener also serves web pages. The same rules apply to requests for web
 * pages: they are handled in order, and malformed requests are refused.
 */
export function createListenerWithPages(
  store: PlantStore,
  options: ServiceOptions,
  findPage: FindPage,
): ServiceListener {
  const handler = createHandler('createRequestListener', store, options);
  const sender = new AnswerSender(handler.unsent);

  async function respond(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = new NodeRequest(message, response);
    const bytesBefore = requestChannel.hasSubscribers ? message.socket.bytesWritten : 0;
    let answer: Answer | undefined;
    try {
      const sendPage = isMalformed(message) ? undefined : findPage(message);
      if (sendPage === undefined) {
        answer = isMalformed(message)
          ? handler.refuse(request, 'malformed_request', ['Connection', 'close'])
          : await handler.answer(request);
        if (answer.onEnd !== undefined) watchEnd(response, message.socket, bytesBefore, answer.onEnd);
      }
      if (response.destroyed) return;
      if (hasEndlessBody(message, handler.maxBodyBytes) || asksForUpgrade(message)) closeAfter(message, response);
      if (answer === undefined) sendPage?.(response);
      else await sender.send(response, answer, message.method === 'HEAD');
    } catch (error) {
      // Part of the response may have been sent. The connection is closed, so that the client does not mistake this
      // part for a complete response.
      response.destroy();
      handler.report(error, request);
    } finally {
      if (typeof answer?.body === 'object') await answer.body.return();
    }
  }

  const maxWaiting = handler.maxInFlight * maxWaitingFactor;
  const ordered = inOrder((message, response) => void respond(message, response), maxWaiting);
  const listener = http1Only(ordered, sender, (error, message, response) => {
    handler.report(error, new NodeRequest(message, response));
  });
  return (message, response, next) => {
    if (next === undefined || handler.hasRoute(message.url ?? '/')) listener(message, response);
    else next();
  };
}

/** Calls `onEnd` when the response has been sent or the client has disconnected. */
function watchEnd(response: ServerResponse, socket: Socket, bytesBefore: number, onEnd: (sent: Sent) => void): void {
  const end = (): void => {
    const bytes = socket.bytesWritten - bytesBefore;
    // Some runtimes do not count the bytes that are written to a socket.
    onEnd({ isComplete: response.writableFinished, ...(bytes >= 0 && { bytes }) });
  };
  // A destroyed response does not emit 'close'.
  if (response.destroyed) end();
  else response.once('close', end);
}

/**
 * Returns whether a request asks to upgrade the connection. node:http drops data that arrives with such a request, and
 * parses later data as a new request.
 */
function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** Closes the connection after a response that is sent while the request is still being received. */
function closeAfter({ socket }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Connection', 'close');
  // node:http calls `destroySoon` to close a connection after its last response.
  socket.destroySoon = () => {
    closeLingering(socket);
  };
}
