import { Client } from 'undici';
import type { Dispatcher } from 'undici';

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
  /** In milliseconds and in ascending order. */
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
  const sendAll = async (client: Client): Promise<void> => {
    for (;;) {
      const sentAt = performance.now();
      const exchange = sentAt < start + milliseconds ? next() : undefined;
      if (exchange === undefined) return;
      await send(client, exchange);
      latencies.push(performance.now() - sentAt);
    }
  };
  const spin = (): void => {
    spinning = setImmediate(spin);
  };
  let spinning = setImmediate(spin);
  try {
    await Promise.all(clients.map(sendAll));
  } finally {
    clearImmediate(spinning);
    await Promise.all(clients.map((client) => client.destroy()));
  }
  const seconds = (performance.now() - start) / 1000;
  return { requestsPerSecond: latencies.length / seconds, latencies: Float64Array.from(latencies).sort() };
}

/** Resolves when the expected response has arrived. Rejects if there is another response. */
function send(client: Client, { method, path, headers, body, status, expected }: Exchange): Promise<void> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const fail = (found: unknown): void => {
      reject(new Error(`${method} ${path} got this response: ${String(found).slice(0, 300)}`));
    };
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (_, found) => {
        if (found !== status) fail(found);
      },
      onResponseData: (_, chunk) => {
        received.push(chunk);
      },
      onResponseEnd: () => {
        const [first] = received;
        const whole = received.length === 1 && first !== undefined ? first : Buffer.concat(received);
        if (expected === undefined || expected.equals(whole)) resolve();
        else fail(whole);
      },
      onResponseError: (_, error) => {
        reject(error);
      },
    };
    client.dispatch({ method, path, headers, body: body ?? null }, handler);
  });
}
