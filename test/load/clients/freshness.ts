import { setTimeout as sleep } from 'node:timers/promises';
import type { Control } from './load-process.ts';
import { sendByFetch } from './send-by-fetch.ts';

/** Clients that create a plant through one server, and list it through another after the acknowledgment. */
export interface FreshnessOptions {
  readonly createPort: number;
  readonly listPort: number;
  /** Each client has a user of its own, who has no plants with an id under 0. */
  readonly users: readonly string[];
  /** The time between the first list of the clients and their first plant, in which other clients start. */
  readonly delayMs: number;
  /** How long the clients create plants. */
  readonly milliseconds: number;
}

export interface FreshnessReport {
  /** Lists after an acknowledged create. */
  readonly lists: number;
  /** How many of these lists lack the plant. */
  readonly stale: number;
  /** Requests without a 200 response. */
  readonly failed: number;
}

const retryMs = 50;

export async function probeFreshness(options: FreshnessOptions, control: Control): Promise<FreshnessReport> {
  const { createPort, listPort, users, delayMs, milliseconds } = options;
  const report = { lists: 0, stale: 0, failed: 0 };
  /** Returns the JSON of a 200 response, and `undefined` for anything else. */
  const send = async (port: number, target: string, user: string, plant?: object): Promise<unknown> => {
    const response = await sendByFetch(port, user, target, plant);
    if (response?.status === 200) return response.json;
    report.failed++;
    await sleep(retryMs);
    return undefined;
  };
  const list = async (user: string): Promise<{ name: string }[] | undefined> =>
    (await send(listPort, '/plants?limit=20', user)) as { name: string }[] | undefined;
  // The clients connect now, because a busy server accepts only one connection in each event loop iteration.
  await Promise.all(users.map(list));
  control.ready();
  await sleep(delayMs);
  const end = performance.now() + milliseconds;
  const probe = async (user: string): Promise<void> => {
    // The newest plant has the smallest id, so it is the first in the list.
    for (let id = -1; performance.now() < end; id--) {
      const name = String(id);
      if ((await send(createPort, '/plants', user, { id, name })) === undefined) continue;
      const listed = await list(user);
      if (listed === undefined) continue;
      report.lists++;
      if (listed[0]?.name !== name) report.stale++;
    }
  };
  await Promise.all(users.map(probe));
  return report;
}
