import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { PlantStore } from '../../core/plant-store.ts';
import { isTraced } from '../../core/trace.ts';
import type { Pages } from '../exchange.ts';
import type { ServiceOptions } from '../options.ts';
import { createService } from '../service.ts';
import type { Service } from '../service.ts';
import { requestChannel } from '../trace.ts';
import { endAndDrain } from './connections.ts';
import { NodeRequest, refusalOf } from './request.ts';

/** A node:http request listener. If it is called with `next`, it acts as a Connect middleware. */
export type ServiceListener = (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;

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
export function createRequestListener(store: PlantStore, options: ServiceOptions): ServiceListener {
  const service = createService(store, options);
  const waiting = new WeakMap<Socket, number>();

  /** Waits for earlier responses: node:http assigns the socket to the responses in the order of the requests. */
  function waitForTurn(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > maxWaiting) {
      socket.destroy();
      return;
    }
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      // The response to the previous request emits 'close', and so returns its permit, before this callback runs.
      process.nextTick(() => void respond(service, message, response));
    });
  }

  return (message, response, next) => {
    if (next !== undefined && !service.hasRoute(message.url ?? '/')) next();
    // A middleware, such as a timeout, may have sent the response.
    else if (response.writableEnded) return;
    else if (response.socket === null) waitForTurn(message, response);
    else void respond(service, message, response);
  };
}

async function respond(service: Service, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const { socket } = message;
  const bytesBefore = isTraced(requestChannel) ? socket.bytesWritten : NaN;
  const refusal = refusalOf(message);
  const { status, headers, body, onEnd } = await service.answer(new NodeRequest(message), refusal);
  if (refusal !== undefined) headers.push('Connection', 'close');
  // `end` must not refer to `body`, because it would keep the body in memory until the response is closed.
  let error: unknown;
  const end = (): void => {
    const bytes = socket.bytesWritten - bytesBefore;
    // Some runtimes do not count the bytes that are written to a socket.
    onEnd({ isComplete: response.writableFinished, error, bytes: bytes >= 0 ? bytes : undefined });
  };
  // A response that is already destroyed does not emit 'close'.
  if (response.destroyed) end();
  else response.on('close', end);
  // node:http calls this method to close a connection, even if the client is still sending the body.
  if (!message.complete) {
    socket.destroySoon = () => {
      endAndDrain(socket);
    };
  }
  try {
    if (response.destroyed) return;
    response.writeHead(status, headers);
    if (message.method === 'HEAD' || body === undefined) response.end();
    else if (typeof body === 'string' || 'byteLength' in body) response.end(body);
    else await sendPages(response, body);
  } catch (thrown) {
    error = thrown;
    // The client must not mistake a part of the response for the whole response.
    response.destroy();
  }
}

/** Sends each page when the socket has accepted the previous one. Returns early if the client disconnects. */
async function sendPages(response: ServerResponse, pages: Pages): Promise<void> {
  for await (const page of pages) {
    await new Promise((resolve) => response.write(page, resolve));
    if (response.socket?.destroyed !== false) return;
  }
  response.end();
}
