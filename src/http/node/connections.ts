import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The share of `maxConnections` that may be open. The rest is kept free for new connections. */
const usableShare = 0.95;

/** The time in milliseconds for which a connection is safe after it has made progress. */
const safeMs = 1000;

/** The connections of each server, in the order of their last progress. The value is the time of this progress. */
const connectionsOf = new WeakMap<Server, Map<Socket, number>>();

/**
 * Makes room for new connections. When more than 95% of `maxConnections` are open, closes the connection that has made
 * no progress for the longest time, but only if this time is longer than a second. A connection makes progress when it
 * is accepted, when a whole request header has arrived, and when its client has read all buffered data.
 *
 * The rule treats half-sent headers, stalled bodies, unread responses and idle clients alike. The server emits
 * `connectionEvicted` for each connection that is closed.
 */
export function evictConnections(server: Server): void {
  const open = new Map<Socket, number>();
  connectionsOf.set(server, open);
  let retry: NodeJS.Timeout | undefined;

  const finished = (socket: Socket): void => {
    // Deleting a connection and setting it again moves it to the end of the map.
    if (open.delete(socket)) open.set(socket, performance.now());
  };
  const makeRoom = (): void => {
    for (const [socket, finishedAt] of open) {
      // Also false if `maxConnections` is undefined, so that the number of connections is not limited.
      const isCrowded = open.size > server.maxConnections * usableShare;
      if (!isCrowded) return;
      const safeForMs = finishedAt + safeMs - performance.now();
      if (safeForMs > 0) {
        retry ??= setTimeout(() => {
          retry = undefined;
          makeRoom();
        }, safeForMs).unref();
        return;
      }
      open.delete(socket);
      socket.destroy();
      server.emit('connectionEvicted', socket);
    }
  };
  const onDrain = function (this: Socket): void {
    finished(this);
  };
  server.on('connection', (socket) => {
    open.set(socket, performance.now());
    socket.on('drain', onDrain).once('close', () => open.delete(socket));
    makeRoom();
  });
  server.on('request', ({ socket }) => {
    finished(socket);
  });
  // Usually, there is room before node:http refuses a connection. But `maxConnections` may have been lowered.
  server.on('drop', makeRoom);
}

/** Returns the open connections of a server. They are known only if {@link evictConnections} was called for it. */
export function openConnections(server: Server): ReadonlyMap<Socket, unknown> {
  return connectionsOf.get(server) ?? new Map();
}
