import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, openConnections } from '../../bench/connections.ts';
import { randomId } from '../../bench/data-set.ts';
import { createText, requestText } from '../../bench/requests.ts';
import { exchange } from './exchange.ts';
import type { Received } from './exchange.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';

/** Clients that send their next request after the response to the one before. */
export interface ClosedLoopOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  /** 'list 20' begins at a random place. 'first page' lists the same 20 plants each time. */
  readonly work: 'create' | 'list 20' | 'first page';
  /** The clients use these users in turn. */
  readonly users: readonly string[];
}

/** The wait for late responses at the end. */
const graceMs = 5000;
const reconnectMs = 50;

const textOf = {
  create: (user: string) => createText(user, randomId(), { name: 'Fern', tag: 'indoor' }),
  'list 20': (user: string) => requestText('GET', `/plants?limit=20&after=${Math.floor(Math.random() * 900)}`, user),
  'first page': (user: string) => requestText('GET', '/plants?limit=20', user),
};

export async function runClosedLoop(options: ClosedLoopOptions, control: Control): Promise<StatsReport> {
  const { port, connections, milliseconds, work, users } = options;
  const sockets = await openConnections(connections, port);
  control.ready();
  const stats = new ResponseStats();
  const end = performance.now() + milliseconds;
  const runClient = async (first: Socket, user: string): Promise<void> => {
    let socket: Socket | undefined = first;
    while (socket !== undefined && performance.now() < end) {
      const response: Received | undefined = await stats.measure(exchange.bind(undefined, socket, textOf[work](user)));
      // After the final response on a connection, the client continues on a new one.
      if (response?.isLast !== false) socket = await reconnect(port, end);
    }
  };
  const all = Promise.all(sockets.map((socket, n) => runClient(socket, users[n % users.length] ?? '')));
  await Promise.race([all, control.stopped, sleep(milliseconds + graceMs, undefined, { ref: false })]);
  return stats.report();
}

async function reconnect(port: number, end: number): Promise<Socket | undefined> {
  while (performance.now() < end) {
    await sleep(reconnectMs);
    const socket = await openConnection(port).catch(() => undefined);
    if (socket !== undefined) return socket;
  }
  return undefined;
}
