import { connect } from 'node:net';
import type { Socket } from 'node:net';

/**
 * How many connections are opened in parallel. The operating system queues a few hundred connections for a server. If
 * the queue is full, a connection attempt is repeated only after a second.
 */
const maxParallel = 200;

/**
 * Opens `count` connections to a local server. If an error occurs on an open connection, the connection is closed and
 * the error is not reported.
 */
export async function openConnections(count: number, port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Math.min(maxParallel, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: next }, () => openConnection(port)))));
  }
  return sockets;
}

/** Opens a connection to a local server. */
export function openConnection(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('connect', () => {
      socket.off('error', reject).on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
