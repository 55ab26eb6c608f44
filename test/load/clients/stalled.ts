import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnections } from '../../bench/connections.ts';
import type { Control } from './load-process.ts';

/** Clients that send the start of a request and then nothing. */
export interface StallOptions {
  readonly port: number;
  readonly connections: number;
  readonly text: string;
  readonly milliseconds: number;
}

const perTurn = 100;

/** Returns the number of connections that the server has not closed. */
export async function sendAndStall(options: StallOptions, control: Control): Promise<number> {
  const { port, connections, text, milliseconds } = options;
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    // They send at once, because the server may close connections without a request to make room.
    const opened = await openConnections(Math.min(sockets.length + perTurn, connections) - sockets.length, port);
    for (const socket of opened) socket.resume().write(text);
    sockets.push(...opened);
  }
  control.ready();
  await Promise.race([sleep(milliseconds), control.stopped]);
  return sockets.filter((socket) => !socket.destroyed).length;
}
