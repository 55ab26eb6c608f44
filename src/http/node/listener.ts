import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServiceResponse } from '../exchange.ts';
import type { ServiceOptions, ServiceStore } from '../options.ts';
import { createService } from '../service.ts';
import type { Service } from '../service.ts';
import { closeAfter, closeAfterUpgrade, currentResponse } from './connections.ts';
import { NodeRequest } from './request.ts';

/**
 * A node:http request listener. If it is called with `next`, it acts as a Connect middleware. The promise resolves when
 * the response has been sent, its client has disconnected, or `next` has been called. It never rejects.
 */
export type ServiceListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => Promise<void>;

/** The maximum number of pipelined requests that wait on a connection. One more closes it. Each uses 3 KiB. */
const maxWaiting = 32;

/**
 * Creates a node:http request listener for the HTTP service, for HTTP/1.1 only. It does not change the server's
 * settings. The requests of a connection are handled one after another.
 *
 * The listener is also a Connect middleware for an Express-style app, at the root or under a prefix. Mount it before
 * any body parser. It calls `next()` for paths that the service does not handle. Without `next`, it responds to
 * requests for such paths with 404.
 *
 * @throws {TypeError} if an option is invalid; the message names it.
 * @example
 * const plants = createRequestListener(store, { authenticate });
 * app.use('/garden', (request, response) => plants(request, response));
 */
export function createRequestListener(store: ServiceStore, options: ServiceOptions<IncomingMessage>): ServiceListener {
  const service = createService(store, options);
  /** For each connection, the number of pipelined requests that wait. */
  const waiting = new WeakMap<Socket, number>();

  /** Waits for earlier responses: node:http assigns the socket to the responses in the order of the requests. */
  async function respondInTurn(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = message;
    const others = waiting.get(socket) ?? 0;
    if (others === maxWaiting || socket.destroyed) {
      socket.destroy();
      return;
    }
    waiting.set(socket, others + 1);
    // When this promise resolves, the previous request has released its permit.
    await new Promise<void>((resolve) => {
      const endWait = (): void => {
        waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
        socket.off('close', endWait);
        response.off('socket', endWait);
        resolve();
      };
      response.on('socket', endWait);
      // node:http emits no event for a response that is still waiting when its client disconnects.
      socket.setMaxListeners(0).on('close', endWait);
    });
    if (response.socket !== null) await respond(service, message, response);
  }

  return (message, response, next) => {
    if (typeof (response as Partial<ServerResponse> | undefined)?.end !== 'function') {
      const advice = 'requires a node:http request and response. For a Request, use createFetchHandler.';
      service.onError(new TypeError(`createRequestListener ${advice}`), { requestId: '', method: '', path: '' });
      return Promise.resolve();
    }
    const socket = message.socket as Socket | undefined;
    closeAfterUpgrade(message, response);
    if (next !== undefined && !service.hasRoute(message.url ?? '/')) next();
    // A middleware, such as a timeout, may have sent the response.
    else if (response.writableEnded) return Promise.resolve();
    else if (response.socket === null && socket && currentResponse(socket)) return respondInTurn(message, response);
    else return respond(service, message, response);
    return Promise.resolve();
  };
}

async function respond(service: Service, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const socket = message.socket as Socket | undefined;
  let onEnd: ServiceResponse['onEnd'] = ({ error }) => {
    service.onError(error, { requestId: '', method: message.method ?? '', path: '' });
  };
  try {
    const request = new NodeRequest(message);
    const result = await service.handle(request);
    onEnd = result.onEnd;
    if (!request.isComplete && socket !== undefined) closeAfter(response, socket);
    // With Node.js 22 and 24, a response whose client has disconnected would count as sent.
    if (!response.destroyed) await send(result, message, response);
    if (response.writableFinished || response.destroyed) {
      onEnd({ isComplete: response.writableFinished });
      return;
    }
    await new Promise<void>((resolve) => {
      const end = (isComplete: boolean) => () => {
        onEnd({ isComplete });
        resolve();
      };
      // The responses of some libraries emit only one of the two events.
      response.on('finish', end(true));
      response.on('close', end(false));
    });
  } catch (error) {
    // The client must not mistake a part of the response for the whole response. A test double or a serverless adapter
    // may lack methods that every response of node:http has.
    (response as Partial<ServerResponse>).destroy?.();
    onEnd({ isComplete: false, error });
  }
}

/** Writes the response; a long list page by page. Returns early if the client disconnects. */
async function send(
  { status, headers, body }: ServiceResponse,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(status, headers);
  if (message.method === 'HEAD' || body === undefined) response.end();
  else if (typeof body === 'string' || 'byteLength' in body) response.end(body);
  else {
    const closed = new Promise((resolve) => response.on('close', resolve));
    for await (const page of body) {
      // Like `pipe`, this does not pass a callback to `write`: a middleware that compresses the response would drop the
      // callback. Some libraries create responses whose `write` returns nothing.
      const isFull = (response.write(page) as boolean | undefined) === false;
      if (isFull) await Promise.race([closed, new Promise((resolve) => response.once('drain', resolve))]);
      if (response.destroyed) return;
    }
    response.end();
  }
}
