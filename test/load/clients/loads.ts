import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, openConnections } from '../../bench/connections.ts';
import { randomId } from '../../bench/data-set.ts';
import { createText, requestHead, requestText } from '../../bench/requests.ts';
import { exchange, requestOnce, sendByFetch } from './exchange.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';

/** The options that all loads of limited duration have. */
interface Common {
  readonly port: number;
  readonly milliseconds: number;
}

/** How long a load waits for late responses at its end. */
const graceMs = 5000;
const plant = { name: 'Fern', tag: 'indoor' };

interface ClosedLoopOptions extends Common {
  readonly connections: number;
  /** The request that the clients repeat. A list begins after a random id. */
  readonly work: 'create' | 'list 20';
  /** The users whose tokens the clients use. These users are assigned to the clients in turn. */
  readonly users: readonly string[];
}

const reconnectMs = 50;

const textOf = {
  create: (user: string) => createText(user, randomId(), plant),
  'list 20': (user: string) => requestText('GET', `/plants?limit=20&after=${Math.floor(Math.random() * 900)}`, user),
};

/** Runs clients that each send a request only after the response to their previous request. */
export async function runClosedLoop(options: ClosedLoopOptions, control: Control): Promise<StatsReport> {
  const { port, connections, milliseconds, work, users } = options;
  const sockets = await openConnections(connections, port);
  control.ready();
  const stats = new ResponseStats();
  const end = performance.now() + milliseconds;
  const runClient = async (first: Socket, user: string): Promise<void> => {
    let socket: Socket | undefined = first;
    while (performance.now() < end) {
      if (socket === undefined) {
        await sleep(reconnectMs);
        socket = await openConnection(port).catch(() => undefined);
        continue;
      }
      const response = await stats.measure(exchange.bind(undefined, socket, textOf[work](user)));
      // After the final response on a connection, the client continues on a new one.
      if (response?.isLast !== false) socket = undefined;
    }
  };
  const all = Promise.all(sockets.map((socket, n) => runClient(socket, users[n % users.length] ?? '')));
  await Promise.race([all, control.stopped, sleep(milliseconds + graceMs, undefined, { ref: false })]);
  return stats.report();
}

interface FixedRateOptions extends Common {
  readonly user: string;
  readonly perSecond: number;
  /** Sent in turn. 'list 2000' needs more than one page, and 'new client' lists 20 plants on a new connection. */
  readonly works: readonly ('create' | 'list 20' | 'list 2000' | 'new client')[];
}

const tickMs = 10;

/** Sends one user's requests at a fixed rate, regardless of how long the responses take. */
export async function runAtFixedRate(options: FixedRateOptions, control: Control): Promise<StatsReport> {
  const { port, user, perSecond, milliseconds, works } = options;
  const stats = new ResponseStats();
  const send = async (work: string): Promise<{ status: number } | undefined> => {
    if (work === 'create') return sendByFetch(port, user, '/plants', { id: randomId(), ...plant });
    if (work !== 'new client') return sendByFetch(port, user, `/plants?limit=${work.slice('list '.length)}`);
    const outcome = await requestOnce(port, requestText('GET', '/plants?limit=20', user), graceMs);
    return typeof outcome === 'number' ? { status: outcome } : undefined;
  };
  control.ready();
  const start = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let now = start; now < start + milliseconds; now = performance.now()) {
    for (const due = ((now - start) * perSecond) / 1000; pending.length < due;) {
      const work = works[pending.length % works.length] ?? 'create';
      pending.push(stats.measure(() => send(work)));
    }
    await sleep(tickMs);
  }
  await Promise.race([Promise.all(pending), sleep(graceMs, undefined, { ref: false })]);
  return stats.report();
}

interface ListOptions extends Common {
  readonly connections: number;
  readonly method: 'GET' | 'HEAD';
  readonly target: string;
  readonly user: string;
}

/**
 * Runs clients that each request one list. All clients send their requests at the same time and read the responses as
 * fast as they can. An incomplete list counts as `closed`.
 */
export async function requestLists(options: ListOptions, control: Control): Promise<StatsReport> {
  const { port, connections, method, target, user, milliseconds } = options;
  const sockets = await openConnections(connections, port);
  const stats = new ResponseStats();
  const text = `${requestHead(method, target, user)}Connection: close\r\n\r\n`;
  const all = Promise.all(sockets.map((socket) => stats.measure(() => receiveList(socket, text))));
  control.ready();
  await Promise.race([all, control.stopped, sleep(milliseconds, undefined, { ref: false })]);
  return stats.report();
}

async function receiveList(socket: Socket, text: string): Promise<{ status: number } | undefined> {
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

interface StallOptions {
  readonly port: number;
  readonly connections: number;
  readonly text: string;
  /** How many times each client sends the text; 1 by default. */
  readonly times?: number;
  /** Whether the clients read responses. If they do not, the operating system's buffers fill up. */
  readonly reads: boolean;
}

const perTurn = 100;

/** Runs clients that send a text and then nothing. Returns how many connections the server has not closed. */
export async function sendAndStall(options: StallOptions, control: Control): Promise<number> {
  const { port, connections, text, times = 1, reads } = options;
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    // The clients send immediately, because the server may close connections without a request to make room.
    const opened = await openConnections(Math.min(perTurn, connections - sockets.length), port);
    for (const socket of opened) (reads ? socket.resume() : socket).write(text.repeat(times));
    sockets.push(...opened);
  }
  control.ready();
  await control.stopped;
  const open = sockets.filter((socket) => !socket.destroyed).length;
  for (const socket of sockets) socket.resetAndDestroy();
  return open;
}
