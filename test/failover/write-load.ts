import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadOptions {
  /** The servers. Each client sends its requests to one of them. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly clients: number;
  /** The pause of a client after a 503, in milliseconds. */
  readonly pauseMs: number;
}

/** Clients that create and delete plants. */
export interface Load {
  /** Resolves when this many more writes are acknowledged. Rejects after `withinMs` milliseconds. */
  acknowledgedMore(count: number, withinMs: number): Promise<void>;
  /** Stops the clients when the outcomes of their current writes are known. */
  stop(): Promise<LoadResult>;
}

/** The responses that the clients received. */
export interface LoadResult {
  /** The number of writes that were acknowledged. */
  readonly acknowledged: number;
  /** The ids of the plants that must exist. */
  readonly created: ReadonlySet<number>;
  /** The ids of the plants that must not exist any more. */
  readonly deleted: ReadonlySet<number>;
  /** The number of responses of each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The longest time between two acknowledgements, in seconds. */
  readonly longestGap: number;
  /** The longest time from a request to its response, in seconds. */
  readonly longestRequest: number;
}

/** The statuses of responses, and those of repeated requests whose first attempt was successful. */
export const expectedStatuses: readonly string[] = ['200', '204', '503', '400 taken', '404 deleted'];

/**
 * Starts clients that create plants with unique ids, and delete every second plant. A client repeats a request after a
 * 503.
 */
export function startWriteLoad({ urls, token, clients, pauseMs }: LoadOptions): Load {
  const created = new Set<number>();
  const deleted = new Set<number>();
  const statuses: Record<string, number> = {};
  let acknowledged = 0;
  let isStopping = false;
  let lastAt = performance.now();
  let longestGapMs = 0;
  let longestRequestMs = 0;

  /** Returns whether the write took effect. */
  async function writeUntilKnown(send: () => Promise<number | string>, repeated: string): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const sentAt = performance.now();
      const status = String(await send());
      const now = performance.now();
      longestRequestMs = Math.max(longestRequestMs, now - sentAt);
      const isRepeated = attempt > 1 && repeated.startsWith(status);
      const name = isRepeated ? repeated : status;
      statuses[name] = (statuses[name] ?? 0) + 1;
      if (status === '200' || status === '204') {
        longestGapMs = Math.max(longestGapMs, now - lastAt);
        lastAt = now;
        acknowledged++;
        return true;
      }
      if (status !== '503') return isRepeated;
      await sleep(pauseMs);
    }
  }

  const running = Array.from({ length: clients }, async (_, client) => {
    const { create, remove } = requestsTo(urls[client % urls.length] ?? '', token);
    for (let n = 0; !isStopping; n++) {
      const id = n * clients + client;
      if (!(await writeUntilKnown(() => create(id), '400 taken'))) continue;
      created.add(id);
      if (n % 2 === 1 && (await writeUntilKnown(() => remove(id), '404 deleted'))) {
        created.delete(id);
        deleted.add(id);
      }
    }
  });
  return {
    acknowledgedMore: async (count, withinMs) => {
      const enough = acknowledged + count;
      const deadline = performance.now() + withinMs;
      while (acknowledged < enough) {
        if (performance.now() > deadline) throw new Error(`No write succeeds: ${JSON.stringify(statuses)}`);
        await sleep(50);
      }
    },
    stop: async () => {
      isStopping = true;
      await Promise.all(running);
      const seconds = { longestGap: longestGapMs / 1000, longestRequest: longestRequestMs / 1000 };
      return { acknowledged, created, deleted, statuses, ...seconds };
    },
  };
}

/** Functions that send a request and return the status of the response, or a text if there is no complete response. */
interface Requests {
  readonly create: (id: number) => Promise<number | string>;
  readonly remove: (id: number) => Promise<number | string>;
}

function requestsTo(url: string, token: string): Requests {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const send = async (path: string, options: RequestInit): Promise<number | string> => {
    try {
      const response = await fetch(url + path, { headers, ...options });
      await response.text();
      return response.status;
    } catch (error) {
      return `no response: ${String(error)}`;
    }
  };
  return {
    create: (id) => send('/plants', { method: 'POST', body: JSON.stringify({ id, name: `plant ${id}` }) }),
    remove: (id) => send(`/plants/${id}`, { method: 'DELETE' }),
  };
}
