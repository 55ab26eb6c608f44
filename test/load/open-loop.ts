import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomId } from '../bench/garden.ts';
import { AnswerReader } from './answers.ts';
import { createText } from './closed-loop.ts';
import { openConnections } from './connections.ts';
import type { Control } from './generator.ts';
import { Tally } from './tally.ts';
import type { TallyReport } from './tally.ts';

/** Requests that come at a rate of their own, however many are not answered yet. */
export interface OpenLoopOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  readonly perSecond: number;
  readonly user: string;
}

export interface OpenLoopReport extends TallyReport {
  readonly offered: number;
  /** Those of them that could not be sent, because the server did not read what was sent before. */
  readonly heldBack: number;
}

const tickMs = 10;
/** A connection has its turn every so many ticks, with all that is due to it: that takes far fewer system calls. */
const ticksPerTurn = 10;
/** How much may wait in this process for one connection. */
const maxWaitingBytes = 65_536;
const graceMs = 3000;

export async function runOpenLoop(options: OpenLoopOptions, control: Control): Promise<OpenLoopReport> {
  const { port, connections, milliseconds, perSecond, user } = options;
  const tally = new Tally();
  const lines = (await openConnections(connections, { port })).map((socket) => new Line(socket, tally));
  control.ready();
  const start = performance.now();
  let offered = 0;
  let heldBack = 0;
  let next = 0;
  for (let now = start; now < start + milliseconds; now = performance.now()) {
    const due = Math.floor(((now - start) * perSecond) / 1000) - offered;
    const batch = Math.ceil((due * ticksPerTurn) / connections);
    for (let left = due; left > 0; left -= batch, next++) {
      const count = Math.min(batch, left);
      if (lines[next % connections]?.send(user, count) !== true) heldBack += count;
    }
    offered += due;
    await sleep(tickMs);
  }
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline && lines.some((line) => line.isWaiting)) await sleep(50);
  for (const line of lines) line.cancelWaiting();
  return { ...tally.report(), offered, heldBack };
}

/** A connection and when the requests were sent that are not answered yet. */
class Line {
  readonly #socket: Socket;
  readonly #tally: Tally;
  #sentAt: number[] = [];
  #answered = 0;

  constructor(socket: Socket, tally: Tally) {
    this.#socket = socket;
    this.#tally = tally;
    const reader = new AnswerReader((status) => {
      this.#take(status);
    });
    socket.on('data', (chunk: Buffer) => {
      reader.take(chunk);
    });
    socket.on('close', () => {
      tally.closed += this.#sentAt.length - this.#answered;
      this.#sentAt = [];
      this.#answered = 0;
    });
  }

  get isWaiting(): boolean {
    return this.#sentAt.length > this.#answered;
  }

  /** Whether it could be sent. */
  send(user: string, count: number): boolean {
    if (this.#socket.destroyed || this.#socket.writableLength > maxWaitingBytes) return false;
    const now = performance.now();
    let text = '';
    for (let n = 0; n < count; n++) {
      text += createText(user, randomId());
      this.#sentAt.push(now);
    }
    this.#socket.write(text);
    return true;
  }

  cancelWaiting(): void {
    this.#tally.unanswered += this.#sentAt.length - this.#answered;
    this.#socket
      .removeAllListeners()
      .on('error', () => undefined)
      .destroy();
  }

  #take(status: number): void {
    this.#tally.answered(status, performance.now() - (this.#sentAt[this.#answered++] ?? NaN));
    if (this.#answered < 1000) return;
    this.#sentAt = this.#sentAt.slice(this.#answered);
    this.#answered = 0;
  }
}
