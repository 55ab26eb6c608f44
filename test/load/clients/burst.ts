import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, openConnections } from '../../bench/connections.ts';
import { requestHead, requestText } from '../../bench/requests.ts';
import type { Control } from './load-process.ts';

/** Clients that send one request each, at the same time. */
export interface BurstOptions {
  readonly port: number;
  readonly connections: number;
  readonly method: 'GET' | 'HEAD';
  readonly target: string;
  readonly user: string;
  /** How long to wait for the responses. */
  readonly milliseconds: number;
}

export interface BurstReport {
  /** Milliseconds to the end of the response, in ascending order; only for a status under 300. */
  readonly waitsMs: readonly number[];
  /** The number of responses with another status. */
  readonly refused: number;
  /** The number of connections that were closed before the end of the response. */
  readonly incomplete: number;
  readonly unanswered: number;
}

export async function sendBurst(options: BurstOptions, control: Control): Promise<BurstReport> {
  const { port, connections, method, target, user, milliseconds } = options;
  const sockets = await openConnections(connections, port);
  const text = `${requestHead(method, target, user)}Connection: close\r\n\r\n`;
  const waitsMs: number[] = [];
  let refused = 0;
  let incomplete = 0;
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
    if (status === 0 || (isChunked && last !== '0\r\n\r\n')) incomplete++;
    else if (status >= 300) refused++;
    else waitsMs.push(performance.now() - start);
  });
  control.ready();
  await Promise.race([Promise.all(ended), control.stopped, sleep(milliseconds)]);
  const unanswered = connections - waitsMs.length - refused - incomplete;
  return { waitsMs: waitsMs.sort((a, b) => a - b), refused, incomplete, unanswered };
}

/** Clients that send one request each and disconnect. */
export interface DisconnectOptions extends Pick<BurstOptions, 'port' | 'connections' | 'target' | 'user'> {
  /** The time between the request and the disconnect. */
  readonly stayMs: number;
}

export async function sendAndDisconnect(
  { port, connections, target, user, stayMs }: DisconnectOptions,
  control: Control,
): Promise<void> {
  const sockets = await openConnections(connections, port);
  for (const socket of sockets) socket.pause().write(requestText('GET', target, user));
  await sleep(stayMs);
  for (const socket of sockets) socket.resetAndDestroy();
  control.ready();
}

/** Clients that send requests at a fixed rate of bytes, and discard the responses. */
export interface ByteRateOptions extends Pick<
  BurstOptions,
  'port' | 'connections' | 'target' | 'user' | 'milliseconds'
> {
  /** The rate of all connections together. */
  readonly bytesPerSecond: number;
}

const statusLine = 'HTTP/1.1 ';

export interface ByteRateReport {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** Sends requests on each connection in turn, without waiting for responses. */
export async function sendAtByteRate(options: ByteRateOptions, control: Control): Promise<ByteRateReport> {
  const { port, connections, target, user, milliseconds, bytesPerSecond } = options;
  const statuses: Record<string, number> = {};
  const countResponses = (socket: Socket): Socket =>
    socket.on('data', (chunk: Buffer) => {
      // No body contains a status line.
      for (let at = chunk.indexOf(statusLine); at !== -1; at = chunk.indexOf(statusLine, at + 1)) {
        const status = chunk.toString('latin1', at + statusLine.length, at + statusLine.length + 3);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    });
  const sockets = (await openConnections(connections, port)).map(countResponses);
  const text = requestText('GET', target, user);
  control.ready();
  const start = performance.now();
  let requests = 0;
  for (let now = start; now < start + milliseconds; now = performance.now()) {
    for (const due = ((now - start) * bytesPerSecond) / 1000; requests * text.length < due; requests++) {
      const n = requests % connections;
      if (sockets[n]?.destroyed === true) sockets[n] = countResponses(await openConnection(port));
      sockets[n]?.write(text);
    }
    await sleep(10);
  }
  for (const socket of sockets) socket.destroy();
  return { requests, statuses };
}
