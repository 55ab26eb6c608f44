import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestHead } from '../bench/candidates.ts';
import { openConnection, openConnections } from './connections.ts';
import type { Control } from './generator.ts';

/** Clients that all send one request at the same time. */
export interface BurstOptions {
  readonly port: number;
  readonly connections: number;
  readonly method: 'GET' | 'HEAD';
  readonly target: string;
  readonly user: string;
  /** How long to wait for the responses; those that are missing then are unanswered. */
  readonly milliseconds: number;
}

export interface BurstReport {
  /** Milliseconds from the request to the end of the response, in ascending order; responses under 300 only. */
  readonly waitsMs: readonly number[];
  /** How many responses had another status. */
  readonly refused: number;
  /** How many connections were closed in the middle of a response, or before it. */
  readonly cutOff: number;
  readonly unanswered: number;
}

export async function burst(options: BurstOptions, control: Control): Promise<BurstReport> {
  const { port, connections, method, target, user, milliseconds } = options;
  const sockets = await openConnections(connections, { port });
  const text = `${requestHead(method, target, user)}Connection: close\r\n\r\n`;
  const waitsMs: number[] = [];
  let refused = 0;
  let cutOff = 0;
  const ended = sockets.map(async (socket) => {
    const start = performance.now();
    let head = '';
    let last = '';
    socket.on('data', (chunk: Buffer) => {
      if (!head.includes('\r\n\r\n')) head += chunk.toString('latin1', 0, 1000);
      last = (last + chunk.subarray(-5).toString('latin1')).slice(-5);
    });
    socket.write(text);
    if (!socket.destroyed) await once(socket, 'close');
    const status = Number(head.slice(9, 12));
    const isChunked = method === 'GET' && /\r\ntransfer-encoding: *chunked/i.test(head);
    if (status === 0 || (isChunked && last !== '0\r\n\r\n')) cutOff++;
    else if (status >= 300) refused++;
    else waitsMs.push(performance.now() - start);
  });
  control.ready();
  await Promise.race([Promise.all(ended), control.stopped, sleep(milliseconds)]);
  const unanswered = connections - waitsMs.length - refused - cutOff;
  return { waitsMs: waitsMs.sort((a, b) => a - b), refused, cutOff, unanswered };
}

/** Clients that send one request each and close their connection at once. */
export interface LeavingOptions extends Pick<BurstOptions, 'port' | 'connections' | 'target' | 'user'> {
  /** How long they stay after their request. */
  readonly stayMs: number;
}

export async function askAndLeave(
  { port, connections, target, user, stayMs }: LeavingOptions,
  control: Control,
): Promise<void> {
  const sockets = await openConnections(connections, { port });
  for (const socket of sockets) socket.pause().write(`${requestHead('GET', target, user)}\r\n`);
  await sleep(stayMs);
  for (const socket of sockets) socket.resetAndDestroy();
  control.ready();
}

/** Clients that send requests at a rate of bytes and discard the responses. */
export interface TrickleOptions extends Pick<
  BurstOptions,
  'port' | 'connections' | 'target' | 'user' | 'milliseconds'
> {
  /** Of all connections together. */
  readonly bytesPerSecond: number;
}

const statusLine = 'HTTP/1.1 ';

export interface TrickleReport {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** Each connection sends its next request whether or not the one before is answered. */
export async function trickle(options: TrickleOptions, control: Control): Promise<TrickleReport> {
  const { port, connections, target, user, milliseconds, bytesPerSecond } = options;
  const statuses: Record<string, number> = {};
  const use = (socket: Socket): Socket =>
    socket.on('data', (chunk: Buffer) => {
      // No body contains this text.
      for (let at = chunk.indexOf(statusLine); at !== -1; at = chunk.indexOf(statusLine, at + 1)) {
        const status = chunk.toString('latin1', at + statusLine.length, at + statusLine.length + 3);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    });
  const sockets = (await openConnections(connections, { port })).map(use);
  const text = `${requestHead('GET', target, user)}\r\n`;
  control.ready();
  const start = performance.now();
  let requests = 0;
  for (let now = start; now < start + milliseconds; now = performance.now()) {
    for (const due = ((now - start) * bytesPerSecond) / 1000; requests * text.length < due; requests++) {
      const n = requests % connections;
      if (sockets[n]?.destroyed === true) sockets[n] = use(await openConnection({ port }));
      sockets[n]?.write(text);
    }
    await sleep(10);
  }
  for (const socket of sockets) socket.destroy();
  return { requests, statuses };
}
