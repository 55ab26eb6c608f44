import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadOptions {
  /** The servers. Each client sends its requests to one of them. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly clients: number;
  /** The pause of a client after a 503, in milliseconds. */
  readonly pauseMs: number;
}

/** Clients that create plants. */
export interface Load {
  /** Resolves when this many more plants are acknowledged. Rejects after `withinMs` milliseconds. */
  acknowledgedMore(count: number, withinMs: number): Promise<void>;
  /** Stops the clients when the outcomes of their current plants are known. */
  stop(): Promise<LoadResult>;
}

/** The responses that the clients received. */
export interface LoadResult {
  /** The ids of the plants that were acknowledged with 200. */
  readonly acknowledged: readonly number[];
  /** The ids of the plants whose repeated create failed because an earlier attempt was successful. */
  readonly foundTaken: readonly number[];
  /** The number of responses of each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The longest time between two acknowledgments, in seconds. */
  readonly longestGap: number;
  /** The longest time from a request to its response, in seconds. */
  readonly longestRequest: number;
}

/** Starts clients that create plants with unique ids. A client repeats a create after a 503. */
export function startCreateLoad({ urls, token, clients, pauseMs }: LoadOptions): Load {
  const acknowledged: number[] = [];
  const foundTaken: number[] = [];
  const statuses: Record<string, number> = {};
  let isStopping = false;
  let lastAt = performance.now();
  let longestGapMs = 0;
  let longestRequestMs = 0;

  async function createUntilKnown(url: string, id: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const sentAt = performance.now();
      const status = await create(url, token, id);
      const now = performance.now();
      longestRequestMs = Math.max(longestRequestMs, now - sentAt);
      const name = status === 400 && attempt > 1 ? '400 taken' : String(status);
      statuses[name] = (statuses[name] ?? 0) + 1;
      if (status === 200) {
        longestGapMs = Math.max(longestGapMs, now - lastAt);
        lastAt = now;
        acknowledged.push(id);
        return;
      }
      if (name === '400 taken') foundTaken.push(id);
      if (status !== 503) return;
      await sleep(pauseMs);
    }
  }

  const running = Array.from({ length: clients }, async (_, client) => {
    const url = urls[client % urls.length] ?? '';
    for (let n = 0; !isStopping; n++) await createUntilKnown(url, n * clients + client);
  });
  return {
    acknowledgedMore: async (count, withinMs) => {
      const enough = acknowledged.length + count;
      const deadline = performance.now() + withinMs;
      while (acknowledged.length < enough) {
        if (performance.now() > deadline) throw new Error(`No plant is created: ${JSON.stringify(statuses)}`);
        await sleep(50);
      }
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(running);
      const seconds = { longestGap: longestGapMs / 1000, longestRequest: longestRequestMs / 1000 };
      return { acknowledged, foundTaken, statuses, ...seconds };
    },
  };
}

/** Returns the status of the response, or a text if there is no complete response. */
async function create(url: string, token: string, id: number): Promise<number | string> {
  try {
    const response = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id, name: `plant ${id}` }),
    });
    await response.text();
    return response.status;
  } catch (error) {
    return `no response: ${String(error)}`;
  }
}
