import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnections } from '../../bench/connections.ts';
import type { Control } from './load-process.ts';

/** Clients that send a text and then nothing. */
export interface StallOptions {
  readonly port: number;
  readonly connections: number;
  readonly text: string;
  /** Whether they read responses. If not, the buffers of the system fill up. */
  readonly reads: boolean;
  /** If set, they disconnect after this time, and the load ends. By default they stay until the load is stopped. */
  readonly stayMs?: number;
}

const perTurn = 100;

/** Returns the number of connections that the server has not closed. */
export async function sendAndStall(options: StallOptions, control: Control): Promise<number> {
  const { port, connections, text, reads, stayMs } = options;
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    // They send at once, because the server may close connections without a request to make room.
    const opened = await openConnections(Math.min(perTurn, connections - sockets.length), port);
    for (const socket of opened) (reads ? socket.resume() : socket).write(text);
    sockets.push(...opened);
  }
  control.ready();
  await (stayMs === undefined ? control.stopped : sleep(stayMs));
  const open = sockets.filter((socket) => !socket.destroyed).length;
  for (const socket of sockets) socket.resetAndDestroy();
  return open;
}
