import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** One request and what its answer must be. */
export interface Exchange {
  readonly request: string;
  readonly status: number;
  /** The exact bytes of the answer's body; `undefined` where any will do. */
  readonly body?: Buffer | undefined;
}

/** How a load is put on a server. */
export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly milliseconds: number;
  /** The next request on whatever connection is free; `undefined` where there are no more. */
  readonly next: () => Exchange | undefined;
}

/** What a load measured. */
export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds from sending a request to the end of its answer, ascending. */
  readonly latencies: Float64Array;
  /** How much of the time this process had something to do, 0 to 1. */
  readonly generatorLoad: number;
}

const endOfHead = Buffer.from('\r\n\r\n');
const endOfChunks = Buffer.from('\r\n0\r\n\r\n');

/**
 * Sends requests over a number of connections, each as soon as the answer before is in, for a time,
 * and checks every answer. Raw sockets, because a full HTTP client takes more CPU than the servers
 * that are measured, and would hide their differences.
 */
export async function runLoad({ port, connections, milliseconds, next }: LoadOptions): Promise<LoadResult> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const latencies: number[] = [];
  const start = performance.now();
  const idleMs = stayAwake(() => latencies.length);
  const end = start + milliseconds;
  try {
    await Promise.all(sockets.map((socket) => keepBusy(socket, end, next, latencies)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const elapsedMs = performance.now() - start;
  return {
    requests: latencies.length,
    requestsPerSecond: (latencies.length / elapsedMs) * 1000,
    latencies: Float64Array.from(latencies).sort(),
    generatorLoad: 1 - idleMs() / elapsedMs,
  };
}

/**
 * Keeps this process from sleeping, because on a virtual machine a server pays for waking it: with
 * up to half of the CPU time of a request, and the more, the longer its answers take. The function
 * that is answered ends this and tells for how many milliseconds there was nothing to do.
 */
function stayAwake(progress: () => number): () => number {
  let idleMs = 0;
  let last = performance.now();
  let seen = progress();
  const spin = (): void => {
    const now = performance.now();
    if (progress() === seen) idleMs += now - last;
    seen = progress();
    last = now;
    next = setImmediate(spin);
  };
  let next = setImmediate(spin);
  return () => {
    clearImmediate(next);
    return idleMs;
  };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket
      .once('connect', () => {
        resolve(socket);
      })
      .once('error', reject);
  });
}

/** Resolves when the time is over, or when there are no more requests. */
function keepBusy(socket: Socket, end: number, next: LoadOptions['next'], latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let exchange = next();
    let sentAt = 0;
    let answer = new Answer();
    const send = (): void => {
      if (exchange === undefined) {
        resolve();
        return;
      }
      answer = new Answer();
      sentAt = performance.now();
      socket.write(exchange.request);
    };
    socket.on('data', (chunk: Buffer) => {
      if (exchange === undefined || !answer.take(chunk)) return;
      const now = performance.now();
      const problem = answer.problem(exchange);
      if (problem !== undefined) {
        reject(new Error(`${exchange.request.slice(0, 300)}\nwas answered with\n${problem}`));
        return;
      }
      latencies.push(now - sentAt);
      exchange = now < end ? next() : undefined;
      send();
    });
    socket.on('error', reject).on('close', () => {
      reject(new Error('The server closed the connection.'));
    });
    send();
  });
}

/** An answer as it comes in. */
class Answer {
  #received: Buffer[] = [];
  #head: string | undefined;
  /** How many bytes of the body are to come; NaN where it is chunked. */
  #missing = 0;

  /** Takes bytes; says whether the answer is complete. */
  take(chunk: Buffer): boolean {
    this.#received.push(chunk);
    if (this.#head === undefined) {
      const whole = this.#body();
      const headLength = whole.indexOf(endOfHead);
      if (headLength === -1) return false;
      this.#head = whole.toString('latin1', 0, headLength);
      this.#received = [whole.subarray(headLength + endOfHead.length)];
      this.#missing = bodyLength(this.#head) - (whole.length - headLength - endOfHead.length);
    } else {
      this.#missing -= chunk.length;
    }
    return Number.isNaN(this.#missing) ? chunk.subarray(-endOfChunks.length).equals(endOfChunks) : this.#missing <= 0;
  }

  problem({ status, body }: Exchange): string | undefined {
    const received = this.#body();
    const isRight =
      this.#head?.slice(9, 12) === String(status) &&
      !(this.#missing < 0) &&
      (body === undefined || body.equals(Number.isNaN(this.#missing) ? unchunk(received) : received));
    return isRight ? undefined : `${this.#head ?? ''}\n\n${received.toString().slice(0, 300)}`;
  }

  #body(): Buffer {
    const [only] = this.#received;
    return this.#received.length === 1 && only !== undefined ? only : Buffer.concat(this.#received);
  }
}

function bodyLength(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  return /\r\ntransfer-encoding: *chunked/i.test(head) ? NaN : 0;
}

function unchunk(received: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = received.indexOf('\r\n', at);
    const length = parseInt(received.toString('latin1', at, lineEnd), 16);
    if (!(length > 0)) return Buffer.concat(parts);
    parts.push(received.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}
