import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnections } from '../../bench/connections.ts';
import { requestHead } from '../../bench/requests.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';

/** Clients that request one list each, at the same time, and read it as fast as they can. */
export interface ListOptions {
  readonly port: number;
  readonly connections: number;
  readonly method: 'GET' | 'HEAD';
  readonly target: string;
  readonly user: string;
  /** How long to wait for the responses. */
  readonly milliseconds: number;
}

/** Counts a list that is cut off as closed. */
export async function requestLists(options: ListOptions, control: Control): Promise<StatsReport> {
  const { port, connections, method, target, user, milliseconds } = options;
  const sockets = await openConnections(connections, port);
  const stats = new ResponseStats();
  const text = `${requestHead(method, target, user)}Connection: close\r\n\r\n`;
  const all = Promise.all(sockets.map((socket) => stats.measure(() => receive(socket, text))));
  control.ready();
  await Promise.race([all, control.stopped, sleep(milliseconds, undefined, { ref: false })]);
  return stats.report();
}

async function receive(socket: Socket, text: string): Promise<{ status: number } | undefined> {
  let head = '';
  let last = '';
  socket.on('data', (chunk: Buffer) => {
    if (!head.includes('\r\n\r\n')) head += chunk.toString('latin1', 0, 1000);
    last = (last + chunk.subarray(-5).toString('latin1')).slice(-5);
  });
  socket.write(text);
  if (!socket.destroyed) await once(socket, 'close');
  const status = Number(head.slice(9, 12));
  const isChunked = text.startsWith('GET') && /\r\ntransfer-encoding: *chunked/i.test(head);
  return status === 0 || (isChunked && last !== '0\r\n\r\n') ? undefined : { status };
}
