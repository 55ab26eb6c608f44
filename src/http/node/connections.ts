import { channel } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { nextTick } from 'node:process';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers';

/**
 * File descriptors that connections must leave free. `plant-store serve` with a PostgreSQL pool and all connections of
 * the admin port needs about 80.
 */
const reservedFiles = 96;

const usableShare = 0.95;

/** The minimum time that an idle connection is kept after its last progress. */
const safeMs = 1000;

/** The message on the channel `plant-store:connection:evicted`. */
export interface EvictionMessage {
  /** The server of the connection. */
  readonly server: Server;
  /** The connection, which has been destroyed. */
  readonly socket: Socket;
}

const evicted = channel('plant-store:connection:evicted');

interface Progress {
  /** The time of the last progress, from `performance.now()`. */
  atMs: number;
  /** `true` until a complete request header has arrived. */
  isSilent: boolean;
}

/** Maps each server to its connections, oldest first. */
const connectionsOf = new WeakMap<Server, Map<Socket, Progress>>();

/**
 * Closes connections after a request with `Upgrade`, and to make room for new ones. When more than 95% of
 * `maxConnections` are open, closes the one that has made no progress for the longest time, if this time is longer than
 * a second. A connection makes progress when it is accepted, when a request header is complete, and when the operating
 * system has accepted all data that was waiting to be sent. If no connection has been idle for a second and all
 * `maxConnections` are open, closes the oldest one that has not sent a complete request header. Publishes each
 * connection that was closed to make room on the channel `plant-store:connection:evicted`.
 */
export function manageConnections(server: Server): void {
  const open = new Map<Socket, Progress>();
  connectionsOf.set(server, open);

  const makeRoom = (): void => {
    const size = open.size + 1;
    // Without `maxConnections`, this comparison is with NaN, and therefore `false`.
    const isCrowded = size > server.maxConnections * usableShare;
    if (!isCrowded) return;
    let [idle, idleSinceMs]: [Socket | undefined, number] = [undefined, performance.now() - safeMs];
    let silent: Socket | undefined;
    for (const [socket, progress] of open) {
      if (progress.atMs < idleSinceMs) [idle, idleSinceMs] = [socket, progress.atMs];
      if (progress.isSilent) silent ??= socket;
    }
    const socket = idle ?? (size >= server.maxConnections ? silent : undefined);
    if (socket === undefined) return;
    open.delete(socket);
    socket.destroy();
    evicted.publish({ server, socket } satisfies EvictionMessage);
  };
  server.on('connection', (socket) => {
    makeRoom();
    const progress = { atMs: performance.now(), isSilent: true };
    open.set(socket, progress);
    socket.on('drain', () => {
      progress.atMs = performance.now();
    });
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (message, response) => {
    closeAfterUpgrade(message, response);
    const progress = open.get(message.socket);
    if (progress === undefined) return;
    progress.atMs = performance.now();
    progress.isSilent = false;
  });
  server.on('drop', makeRoom);
}

/** Returns a server's open connections; none unless {@link manageConnections} was called for it. */
export function openConnections(server: Server): ReadonlyMap<Socket, Readonly<Progress>> {
  return connectionsOf.get(server) ?? new Map();
}

/** Returns the response that owns a connection, from a property that node:http does not document. */
export function currentResponse(socket: object | undefined): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null } | undefined)?._httpMessage ?? undefined;
}

/** A `net.Socket`, or a stream that replaces one. */
interface Connection extends Duplex {
  destroySoon?(): void;
}

/**
 * Ends a connection after the data that has been written, and discards input for up to a second (RFC 9112 §9.6).
 * Closing the connection immediately would cause a TCP reset, and the client might not receive the response. No input
 * becomes a request.
 */
export function drainAndDestroy(socket: Duplex): void {
  socket.end();
  socket.resume();
  // Replaces node:http's `data` listener, so that its parser receives no more input. Waits for the tick in which
  // node:http resumes a paused socket.
  nextTick(() => socket.removeAllListeners('data').on('data', () => undefined));
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** Makes a response the last one of its connection. A serverless adapter may have no connection. */
export function closeAfter(response: ServerResponse, socket: Connection | undefined): void {
  if (socket === undefined) return;
  const close = (): void => {
    drainAndDestroy(socket);
  };
  if (response.headersSent) {
    response.once('finish', close);
  } else {
    response.setHeader('Connection', 'close');
    // node:http calls this method after the response, even if the client is still sending.
    socket.destroySoon = close;
  }
}

/**
 * A request with `Upgrade` is the last one of its connection: node:http drops what follows it in the same packet, so
 * the next packet can begin anywhere, such as in the body of a request.
 */
export function closeAfterUpgrade(message: IncomingMessage, response: ServerResponse): void {
  // A request of a test double or of a serverless adapter can lack both members.
  const { headers, socket } = message as Partial<IncomingMessage>;
  if (headers?.upgrade !== undefined) closeAfter(response, socket);
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
