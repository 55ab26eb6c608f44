import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lastResponse } from './in-order.ts';

/** The share of `maxConnections` that idle connections must leave free for new connections. */
const freeShare = 0.05;

/**
 * The time in milliseconds after which a connection with an incomplete request header counts as idle. This limit
 * matters only when connections have to be closed. Without it, a client could send one byte of a header and keep its
 * connection open until `headersTimeout`.
 */
const headerMs = 1000;

/**
 * Closes a server's longest-idle connections whenever more than 95 % of `maxConnections` are open. When
 * `maxConnections` are open, node:http closes every new connection. Idle connections are closed before this limit is
 * reached, so that node:http does not close a new connection while idle ones exist.
 *
 * A connection is idle if the client has sent nothing since the last response, or if the header of its first or next
 * request has been incomplete for a second. Connections with an incomplete header are closed first. The server emits
 * `idleConnectionClosed` for each connection that is closed.
 *
 * `open` is the set of the server's open connections. A connection is removed from the set when it is closed.
 */
export function closeIdleConnections(server: Server, open: Set<Socket>): void {
  const idle = new IdleConnections(server, open);
  server.on('connection', (socket) => {
    idle.opened(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response) => {
    idle.requested(socket, response);
  });
  // Usually, no connection is idle when node:http refuses a new one. But if `maxConnections` has been lowered, idle
  // connections may exist.
  server.on('drop', () => {
    idle.makeRoom();
  });
}

class IdleConnections {
  readonly #server: Server;
  readonly #open: Set<Socket>;
  /**
   * The connections whose last response has ended, in the order in which these responses ended. The value is the number
   * of bytes that the connection had received when the response ended.
   */
  readonly #keptAlive = new Map<Socket, number>();
  /**
   * The connections that are waiting for a complete header, longest-waiting first. The value is the time when the wait
   * began.
   */
  readonly #withoutRequest = new Map<Socket, number>();
  #retry: NodeJS.Timeout | undefined;

  constructor(server: Server, open: Set<Socket>) {
    this.#server = server;
    this.#open = open;
  }

  opened(socket: Socket): void {
    this.#withoutRequest.set(socket, performance.now());
    socket.once('close', () => {
      this.#forget(socket);
    });
    this.makeRoom();
  }

  requested(socket: Socket, response: ServerResponse): void {
    this.#forget(socket);
    // 'close' is emitted only once, so `on` has the same effect as `once` and costs less per request.
    response.on('close', () => {
      if (socket.destroyed || lastResponse(socket) !== response) return;
      this.#keptAlive.set(socket, socket.bytesRead);
      this.makeRoom();
    });
  }

  #forget(socket: Socket): void {
    this.#keptAlive.delete(socket);
    this.#withoutRequest.delete(socket);
  }

  makeRoom(): void {
    const { maxConnections } = this.#server;
    const mostWithIdle = maxConnections - Math.ceil(maxConnections * freeShare);
    while (this.#open.size > mostWithIdle) {
      const socket = this.#longestIdle();
      if (socket === undefined) {
        this.#retryLater();
        return;
      }
      this.#forget(socket);
      this.#open.delete(socket);
      socket.destroy();
      this.#server.emit('idleConnectionClosed', socket);
    }
  }

  /**
   * Schedules another check. This is necessary because no event is emitted when a request header has been incomplete
   * for a second.
   */
  #retryLater(): void {
    if (this.#retry !== undefined || this.#withoutRequest.size === 0) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.makeRoom();
    }, headerMs).unref();
  }

  #longestIdle(): Socket | undefined {
    const now = performance.now();
    for (const [socket, sinceMs] of this.#withoutRequest) {
      if (sinceMs > now - headerMs) break;
      return socket;
    }
    for (const [socket, bytesRead] of this.#keptAlive) {
      if (socket.bytesRead === bytesRead) return socket;
      // The header of the next request on this connection is arriving.
      this.#keptAlive.delete(socket);
      this.#withoutRequest.set(socket, now);
    }
    return undefined;
  }
}
