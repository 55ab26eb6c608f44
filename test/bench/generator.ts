import { Client } from 'undici';

/** A request and its expected response. */
export interface Exchange {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  /** The expected body; `undefined` if the body is not checked. */
  readonly expected?: Buffer;
}

/** Returns the next request, whichever connection sends it; `undefined` if there are no more requests. */
export type Next = () => Exchange | undefined;

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  /** After this time, no more requests are sent. By default, requests are sent until `next` returns `undefined`. */
  readonly milliseconds?: number;
  readonly next: Next;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  /** The time from sending each request to the end of its response, in milliseconds and in ascending order. */
  readonly latencies: Float64Array;
}

/**
 * Sends requests over many connections and checks every response. Each connection sends its next request when it has
 * received a response. With autocannon or wrk, a small server needs 1.1 to 1.7 times the CPU time for a request: they
 * are slower than the server, or they sleep. undici is faster, and this process never sleeps: on a virtual machine,
 * waking a process costs the server that sends to it up to half of the CPU time of a request.
 */
export async function runLoad({ port, connections, milliseconds = Infinity, next }: LoadOptions): Promise<LoadResult> {
  const clients = Array.from({ length: connections }, () => new Client(`http://127.0.0.1:${port}`));
  const latencies: number[] = [];
  const start = performance.now();
  const spin = (): void => {
    spinning = setImmediate(spin);
  };
  let spinning = setImmediate(spin);
  try {
    await Promise.all(clients.map((client) => sendRequests(client, start + milliseconds, next, latencies)));
  } finally {
    clearImmediate(spinning);
    await Promise.all(clients.map((client) => client.destroy()));
  }
  const seconds = (performance.now() - start) / 1000;
  return { requestsPerSecond: latencies.length / seconds, latencies: Float64Array.from(latencies).sort() };
}

/** Sends requests on one connection until the time is over or there are no more requests. */
function sendRequests(client: Client, end: number, next: Next, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const send = (): void => {
      const exchange = performance.now() < end ? next() : undefined;
      if (exchange === undefined) {
        resolve();
        return;
      }
      const { method, path, headers, body = null, status, expected } = exchange;
      const received: Buffer[] = [];
      const fail = (found: unknown): void => {
        reject(new Error(`${method} ${path} got this response: ${String(found).slice(0, 300)}`));
      };
      const sentAt = performance.now();
      client.dispatch(
        { method, path, headers, body },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_, found) => {
            if (found !== status) fail(found);
          },
          onResponseData: (_, chunk) => {
            if (expected !== undefined) received.push(chunk);
          },
          onResponseEnd: () => {
            latencies.push(performance.now() - sentAt);
            const [only] = received;
            const whole = received.length === 1 && only !== undefined ? only : Buffer.concat(received);
            if (expected === undefined || expected.equals(whole)) send();
            else fail(whole);
          },
          onResponseError: (_, error) => {
            reject(error);
          },
        },
      );
    };
    send();
  });
}
