import { connect } from 'node:net';
import type { Socket, TcpNetConnectOpts } from 'node:net';

/**
 * How many connections are asked for at once: the system keeps a few hundred for a server until it
 * takes them, and one that finds no place there is tried again only after a second.
 */
const atOnce = 200;

/** Opens a number of connections, some at a time. What is wrong with them later is told by their 'close'. */
export async function openConnections(count: number, options: TcpNetConnectOpts): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Math.min(atOnce, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: some }, () => openConnection(options)))));
  }
  return sockets;
}

export function openConnection(options: TcpNetConnectOpts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', noDelay: true, ...options });
    socket.once('connect', () => {
      socket.off('error', reject).on('error', () => undefined);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}
