import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The share of `maxConnections` that can be in use. The rest is kept free for new connections. */
const usableShare = 0.95;

/** The time in milliseconds for which a connection is safe from eviction after it has made progress. */
const safeMs = 1000;

/** Maps each server to its connections and the time of each connection's last progress. The oldest time is first. */
const connectionsOf = new WeakMap<Server, Map<Socket, number>>();

/**
 * Makes room for new connections. When more than 95% of `maxConnections` are open, closes the connection that has made
 * no progress for the longest time, but only if this time is longer than a second. A connection makes progress when it
 * is accepted, when a complete request header has arrived, and when its client has read all buffered data.
 *
 * The rule treats half-sent headers, stalled bodies, unread responses and idle clients alike. The server emits
 * `connectionEvicted` for each evicted connection.
 */
export function evictConnections(server: Server): void {
  const open = new Map<Socket, number>();
  connectionsOf.set(server, open);
  let retry: NodeJS.Timeout | undefined;

  const finished = (socket: Socket): void => {
    // Deleting and re-adding a connection moves it to the end of the map.
    if (open.delete(socket)) open.set(socket, performance.now());
  };
  const makeRoom = (): void => {
    for (const [socket, finishedAt] of open) {
      // Also `false` if `maxConnections` is undefined, because the number of connections is then unlimited.
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
  // Usually, a connection is evicted before node:http has to refuse a new connection, but not after `maxConnections`
  // has been lowered.
  server.on('drop', makeRoom);
}

/** Returns a server's open connections, or an empty map if {@link evictConnections} was not called for the server. */
export function openConnections(server: Server): ReadonlyMap<Socket, unknown> {
  return connectionsOf.get(server) ?? new Map();
}
