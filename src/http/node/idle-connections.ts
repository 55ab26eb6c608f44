import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lastResponse } from './in-order.ts';

/** The share of `maxConnections` that is kept free of idle connections. */
const freeShare = 0.05;

/**
 * While room is needed, a client has this long to send the header of a request before its connection counts as idle:
 * with one byte of a header, connections would be held for as long as `headersTimeout`.
 */
const headerMs = 1000;

/**
 * Closes the longest idle connections of a server whenever more than 95 % of `maxConnections` are open.
 * Once `maxConnections` are open, node:http closes every new connection. Making room before that ensures
 * that no new client is refused while idle connections exist.
 *
 * A connection is idle if it has sent nothing since its last response, or if the header of its first or next request
 * has been incomplete for a second; the latter are closed first.
 * For each one that is closed the server emits `idleConnectionClosed`.
 *
 * `open` is the set of the server's open connections; closed connections are removed from it.
 */
export function closeIdleConnections(server: Server, open: Set<Socket>): void {
  const idle = new IdleConnections(server, open);
  server.on('connection', (socket) => {
    idle.opened(socket);
  });
  server.on('request', ({ socket }: IncomingMessage, response) => {
    idle.requested(socket, response);
  });
  // No connection was idle at the last check. Some may be idle now if `maxConnections` has changed.
  server.on('drop', () => {
    idle.makeRoom();
  });
}

class IdleConnections {
  readonly #server: Server;
  readonly #open: Set<Socket>;
  /** How many bytes each connection had sent when its last response ended, in the order in which these ended. */
  readonly #keptAlive = new Map<Socket, number>();
  /** Since when each has been without a complete header, in this order. */
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
    // 'close' is emitted only once, and `on` costs less per request than `once`.
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

  /** Schedules another check: new connections count as idle a second later, and no event marks that moment. */
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
      // The header of its next request is arriving.
      this.#keptAlive.delete(socket);
      this.#withoutRequest.set(socket, now);
    }
    return undefined;
  }
}
