import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomId } from '../../bench/data-set.ts';
import { ResponseReader } from './response-reader.ts';
import { createTextOf } from './closed-loop.ts';
import { openConnections } from '../../bench/connections.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';

/** Requests at a fixed rate, regardless of the responses. */
export interface OpenLoopOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  readonly perSecond: number;
  readonly user: string;
}

export interface OpenLoopReport extends StatsReport {
  /** Requests that were due. */
  readonly due: number;
  /** Requests that could not be sent, because the server did not read the ones before. */
  readonly notSent: number;
}

const tickMs = 10;
/** Each connection sends once in this many ticks, all of its requests in one system call. */
const ticksPerTurn = 10;
/** The maximum number of unsent bytes on a connection. */
const maxWaitingBytes = 65_536;
const graceMs = 3000;

export async function runOpenLoop(options: OpenLoopOptions, control: Control): Promise<OpenLoopReport> {
  const { port, connections, milliseconds, perSecond, user } = options;
  const stats = new ResponseStats();
  const pipelines = (await openConnections(connections, port)).map((socket) => new PipelinedConnection(socket, stats));
  control.ready();
  const start = performance.now();
  let total = 0;
  let notSent = 0;
  let next = 0;
  for (let now = start; now < start + milliseconds; now = performance.now()) {
    const due = Math.floor(((now - start) * perSecond) / 1000) - total;
    const batch = Math.ceil((due * ticksPerTurn) / connections);
    for (let remaining = due; remaining > 0; remaining -= batch, next++) {
      const count = Math.min(batch, remaining);
      if (pipelines[next % connections]?.send(user, count) !== true) notSent += count;
    }
    total += due;
    await sleep(tickMs);
  }
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline && pipelines.some((each) => each.isWaiting)) await sleep(50);
  for (const each of pipelines) each.abandon();
  return { ...stats.report(), due: total, notSent };
}

/** A connection with its pending requests. */
class PipelinedConnection {
  readonly #socket: Socket;
  readonly #stats: ResponseStats;
  #sentAt: number[] = [];
  #responseCount = 0;

  constructor(socket: Socket, stats: ResponseStats) {
    this.#socket = socket;
    this.#stats = stats;
    const reader = new ResponseReader((status) => {
      this.#receive(status);
    });
    socket.on('data', (chunk: Buffer) => {
      reader.add(chunk);
    });
    socket.on('close', () => {
      stats.closed += this.#sentAt.length - this.#responseCount;
      this.#sentAt = [];
      this.#responseCount = 0;
    });
  }

  get isWaiting(): boolean {
    return this.#sentAt.length > this.#responseCount;
  }

  /** Sends requests unless too many bytes are unsent, and returns whether it sent them. */
  send(user: string, count: number): boolean {
    if (this.#socket.destroyed || this.#socket.writableLength > maxWaitingBytes) return false;
    const now = performance.now();
    let text = '';
    for (let n = 0; n < count; n++) {
      text += createTextOf(user, randomId());
      this.#sentAt.push(now);
    }
    this.#socket.write(text);
    return true;
  }

  abandon(): void {
    this.#stats.unanswered += this.#sentAt.length - this.#responseCount;
    this.#socket
      .removeAllListeners()
      .on('error', () => undefined)
      .destroy();
  }

  #receive(status: number): void {
    this.#stats.add(status, performance.now() - (this.#sentAt[this.#responseCount++] ?? NaN));
    if (this.#responseCount < 1000) return;
    this.#sentAt = this.#sentAt.slice(this.#responseCount);
    this.#responseCount = 0;
  }
}
