import { readFileSync } from 'node:fs';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers';

/** File descriptors that connections must leave free. `plant-store serve` with a PostgreSQL pool needs about 50. */
const reservedFiles = 64;

const usableShare = 0.95;

/** A connection that has made progress is not evicted for this long. */
const safeMs = 1000;

/** Maps each server to its connections and the times of their last progress, oldest first. */
const connectionsOf = new WeakMap<Server, Map<Socket, number>>();

/**
 * Makes room for new connections. When more than 95% of `maxConnections` are open, closes the connection that has made
 * no progress for the longest time, if this time is longer than a second. A connection makes progress when it is
 * accepted, when a request header is complete, and when the operating system has accepted all data that was waiting to
 * be sent. The server emits `connectionEvicted` for each evicted connection.
 */
export function enableEviction(server: Server): void {
  const open = new Map<Socket, number>();
  connectionsOf.set(server, open);

  const progressed = (socket: Socket): void => {
    // Deleting and re-adding a connection moves it to the end of the map.
    if (open.delete(socket)) open.set(socket, performance.now());
  };
  const makeRoom = (): void => {
    for (const [socket, progressAt] of open) {
      // Without `maxConnections`, nothing is crowded: a comparison with NaN is `false`.
      const isCrowded = open.size > server.maxConnections * usableShare;
      if (!isCrowded || performance.now() < progressAt + safeMs) return;
      open.delete(socket);
      socket.destroy();
      server.emit('connectionEvicted', socket);
    }
  };
  server.on('connection', (socket) => {
    open.set(socket, performance.now());
    socket.on('drain', () => {
      progressed(socket);
    });
    socket.once('close', () => open.delete(socket));
    makeRoom();
  });
  server.on('request', ({ socket }) => {
    progressed(socket);
  });
  server.on('drop', makeRoom);
}

/** Returns a server's open connections; none unless {@link enableEviction} was called for it. */
export function openConnections(server: Server): ReadonlyMap<Socket, unknown> {
  return connectionsOf.get(server) ?? new Map();
}

/** Returns the response that owns a connection, from a property that node:http does not document. */
export function currentResponse(socket: object): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/**
 * Sends the last data of a connection, and drains input for up to a second (RFC 9112 §9.6). Closing the connection
 * immediately would cause a TCP reset, and the client might not receive the response.
 */
export function endAndDrain(socket: Duplex, data?: string): void {
  socket.end(data);
  socket.resume();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/**
 * Returns 10,000, or less if this process may open fewer files. Without spare file descriptors, the process could not
 * open its database or its tokens file.
 */
export function connectionLimit(maxOpenFiles: number = openFileLimit()): number {
  return Math.min(10_000, Math.max(8, maxOpenFiles - reservedFiles));
}

/** `Infinity` if it is unknown: only Linux has /proc. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
