import type { Socket } from 'node:net';
import { openConnections } from './connections.ts';

/** A request and its expected response. */
export interface Exchange {
  readonly request: string;
  readonly status: number;
  /** The expected body; `undefined` if the body is not checked. A chunked body is never checked. */
  readonly body?: Buffer | undefined;
}

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  /** After this time, no more requests are sent. By default, requests are sent until `next` returns `undefined`. */
  readonly milliseconds?: number;
  /** Returns the next request, whichever connection sends it; `undefined` if there are no more requests. */
  readonly next: () => Exchange | undefined;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** The time from sending each request to the end of its response, in milliseconds and in ascending order. */
  readonly latencies: Float64Array;
  /** The fraction of the time in which this process was busy, from 0 to 1. */
  readonly generatorLoad: number;
}

/** Returns a function that returns this many requests, and then `undefined`. */
export function atMost(count: number, next: (n: number) => Exchange): LoadOptions['next'] {
  let n = 0;
  return () => (n < count ? next(n++) : undefined);
}

const endOfHead = Buffer.from('\r\n\r\n');
const endOfChunks = Buffer.from('\r\n0\r\n\r\n');

/**
 * Sends requests over many connections and checks every response. Each connection sends its next request when it has
 * received a response. The requests are sent over raw sockets, because a full HTTP client would use more CPU time than
 * the measured servers and would hide their differences.
 */
export async function runLoad({ port, connections, milliseconds = Infinity, next }: LoadOptions): Promise<LoadResult> {
  const sockets = await openConnections(connections, port);
  const latencies: number[] = [];
  const start = performance.now();
  const idleMs = preventSleep(() => latencies.length);
  const end = start + milliseconds;
  try {
    await Promise.all(sockets.map((socket) => sendRequests(socket, end, next, latencies)));
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
 * Keeps this process from sleeping. On a virtual machine, waking a process costs the server that sends to it up to half
 * of the CPU time of a request, and more for longer responses. Returns a function that lets this process sleep again
 * and returns how many milliseconds the process was idle.
 */
function preventSleep(progress: () => number): () => number {
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

/** Sends requests on one connection until the time is over or there are no more requests. */
function sendRequests(socket: Socket, end: number, next: LoadOptions['next'], latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let exchange = next();
    let sentAt = 0;
    let response = new Response();
    const send = (): void => {
      if (exchange === undefined) {
        resolve();
        return;
      }
      response = new Response();
      sentAt = performance.now();
      socket.write(exchange.request);
    };
    socket.on('data', (chunk: Buffer) => {
      if (exchange === undefined || !response.add(chunk)) return;
      const now = performance.now();
      const problem = response.problem(exchange);
      if (problem !== undefined) {
        reject(new Error(`${exchange.request.slice(0, 300)}\ngot this response:\n${problem}`));
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

/** A response of which only a part may have been received. */
class Response {
  #received: Buffer[] = [];
  #head: string | undefined;
  /** How many bytes of the body are missing; NaN if the body is chunked. */
  #missing = 0;

  /** Adds a chunk, and returns whether the response is complete. */
  add(chunk: Buffer): boolean {
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

  /** Returns the response as text if it is not the expected response. */
  problem({ status, body }: Exchange): string | undefined {
    const received = this.#body();
    const isExpected =
      this.#head?.slice(9, 12) === String(status) &&
      !(this.#missing < 0) &&
      (body === undefined || Number.isNaN(this.#missing) || body.equals(received));
    return isExpected ? undefined : `${this.#head ?? ''}\n\n${received.toString().slice(0, 300)}`;
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
