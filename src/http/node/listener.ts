import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isTraced } from '../../core/trace.ts';
import type { Pages } from '../exchange.ts';
import { printError } from '../options.ts';
import type { ServiceOptions, ServiceStore } from '../options.ts';
import { createService } from '../service.ts';
import type { Service } from '../service.ts';
import { requestChannel } from '../trace.ts';
import { currentResponse, endAndDrain } from './connections.ts';
import { NodeRequest } from './request.ts';

/**
 * A node:http request listener. If it is called with `next`, it acts as a Connect middleware. The promise resolves when
 * the response has been sent, its client has disconnected, or `next` has been called. It never rejects.
 */
export type ServiceListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => Promise<void>;

/** The maximum number of pipelined requests that wait on a connection; one more closes it. Each uses 3 KiB. */
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
export function createRequestListener(store: ServiceStore, options: ServiceOptions): ServiceListener {
  const service = createService(store, options);
  /** The functions that end the wait of the pipelined requests of a connection. */
  const waiting = new WeakMap<Socket, Set<() => void>>();

  function waitersOn(socket: Socket): Set<() => void> {
    const known = waiting.get(socket);
    if (known !== undefined) return known;
    const waiters = new Set<() => void>();
    waiting.set(socket, waiters);
    // node:http emits no event for a response that is still waiting when its client disconnects.
    socket.once('close', () => {
      for (const endWait of waiters) endWait();
    });
    return waiters;
  }

  /** Waits for earlier responses: node:http assigns the socket to the responses in the order of the requests. */
  async function respondInTurn(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = message;
    const waiters = waitersOn(socket);
    if (waiters.size === maxWaiting || socket.destroyed) {
      socket.destroy();
      return;
    }
    // When this promise resolves, the previous request has returned its permit.
    await new Promise<void>((resolve) => {
      const endWait = (): void => {
        waiters.delete(endWait);
        resolve();
      };
      waiters.add(endWait);
      response.once('socket', endWait);
    });
    if (response.socket !== null) await respond(service, message, response);
  }

  return (message, response, next) => {
    const socket = message.socket as Socket | undefined;
    if (next !== undefined && !service.hasRoute(message.url ?? '/')) next();
    // A middleware, such as a timeout, may have sent the response.
    else if (response.writableEnded) return Promise.resolve();
    else if (response.socket === null && socket && currentResponse(socket)) return respondInTurn(message, response);
    else return respond(service, message, response);
    return Promise.resolve();
  };
}

async function respond(service: Service, message: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const end = await sendAnswer(service, message, response);
    await whenSent(response, end);
  } catch (error) {
    // The request or the response lacks something that every request or response of node:http has.
    printError(error, { requestId: '', method: message.method ?? '', path: '' });
    (response as Partial<ServerResponse>).destroy?.();
  }
}

/** Calls `end` as soon as the response has been sent, or cannot be sent. Not every library emits both events. */
async function whenSent(response: ServerResponse, end: (isComplete: boolean) => void): Promise<void> {
  if (response.writableFinished || response.destroyed) {
    end(response.writableFinished);
    return;
  }
  await new Promise<void>((resolve) => {
    let isEnded = false;
    const endOnce = (isComplete: boolean): void => {
      if (!isEnded) end(isComplete);
      isEnded = true;
      resolve();
    };
    response.on('finish', () => {
      endOnce(true);
    });
    response.on('close', () => {
      endOnce(false);
    });
  });
}

/**
 * Sends the response. Returns a function to call when the response has been sent or its client has disconnected. This
 * function does not keep the body in memory.
 */
async function sendAnswer(
  service: Service,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<(isComplete: boolean) => void> {
  const socket = message.socket as Socket | undefined;
  const bytesBefore = isTraced(requestChannel) ? socket?.bytesWritten : undefined;
  const request = new NodeRequest(message);
  const { status, headers, body, onEnd } = await service.answer(request);
  if (request.isAmbiguous || !request.isComplete) headers['Connection'] = 'close';
  if (socket && !request.isComplete) {
    // node:http calls this method to close a connection, even if the client is still sending the body.
    socket.destroySoon = () => {
      endAndDrain(socket);
    };
  }
  let error: unknown;
  try {
    if (!response.destroyed) {
      response.writeHead(status, headers);
      if (message.method === 'HEAD' || body === undefined) response.end();
      else if (typeof body === 'string' || 'byteLength' in body) response.end(body);
      else await sendPages(response, body);
    }
  } catch (thrown) {
    error = thrown;
    // The client must not mistake a part of the response for the whole response.
    response.destroy();
  }
  return (isComplete) => {
    const bytes = (socket?.bytesWritten ?? NaN) - (bytesBefore ?? NaN);
    // Some runtimes do not count the bytes that are written to a socket.
    onEnd({ isComplete, error, bytes: bytes >= 0 ? bytes : undefined });
  };
}

/**
 * Sends each page when the previous one has been accepted, as `pipe` does: a middleware that compresses the response
 * does not call the callback of `write`. Returns early if the client disconnects.
 */
async function sendPages(response: ServerResponse, pages: Pages): Promise<void> {
  let resume: (value?: unknown) => void = () => undefined;
  const onProgress = (): void => {
    resume();
  };
  response.on('drain', onProgress);
  response.on('close', onProgress);
  for await (const page of pages) {
    const progress = new Promise((resolve) => (resume = resolve));
    // Some libraries create responses whose `write` returns nothing.
    if (!response.destroyed && (response.write(page) as boolean | undefined) === false) await progress;
    if (response.destroyed) return;
  }
  response.end();
}
