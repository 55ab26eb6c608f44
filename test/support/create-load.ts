import { setTimeout as sleep } from 'node:timers/promises';

/** What clients saw that kept creating plants. */
export interface LoadResult {
  /** The ids of the plants that were acknowledged with 200. */
  readonly acknowledged: readonly number[];
  /** Ids answered "taken" after an attempt with an unknown outcome: that attempt had happened. */
  readonly foundTaken: readonly number[];
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The longest time between two acknowledgements, in seconds. */
  readonly longestGap: number;
}

/** Clients under way. */
export interface Load {
  /** Resolves when this many more plants are acknowledged. */
  acknowledgedMore(count: number): Promise<void>;
  /** Lets every client finish its plant. */
  stop(): Promise<LoadResult>;
}

/** Starts clients that create plants with ids of their own, and try again after 503 until it is 200 or "taken". */
export function startCreateLoad(urls: readonly string[], clientCount: number): Load {
  const acknowledged: number[] = [];
  const foundTaken: number[] = [];
  const statuses: Record<string, number> = {};
  let isStopping = false;
  let lastAt = performance.now();
  let longestGap = 0;

  async function createUntilKnown(url: string, id: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const status = await post(url, id);
      const name = status === 400 && attempt > 1 ? '400 taken' : String(status);
      statuses[name] = (statuses[name] ?? 0) + 1;
      if (status === 200) {
        const now = performance.now();
        longestGap = Math.max(longestGap, now - lastAt);
        lastAt = now;
        acknowledged.push(id);
        return;
      }
      if (name === '400 taken') foundTaken.push(id);
      if (status !== 503) return;
      await sleep(20);
    }
  }

  const clients = Array.from({ length: clientCount }, async (_, client) => {
    const url = urls[client % urls.length] ?? '';
    for (let n = 0; !isStopping; n++) await createUntilKnown(url, n * clientCount + client);
  });
  return {
    acknowledgedMore: async (count) => {
      const enough = acknowledged.length + count;
      const deadline = performance.now() + 20_000;
      while (acknowledged.length < enough) {
        if (performance.now() > deadline) throw new Error(`No service: ${JSON.stringify(statuses)}`);
        await sleep(5);
      }
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(clients);
      return { acknowledged, foundTaken, statuses, longestGap: longestGap / 1000 };
    },
  };
}

async function post(url: string, id: number): Promise<number | string> {
  try {
    const response = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: 'Bearer ada', 'content-type': 'application/json' },
      body: `{"id":${id},"name":"plant ${id}"}`,
    });
    await response.text();
    return response.status;
  } catch (error) {
    return `no answer: ${String(error)}`;
  }
}
