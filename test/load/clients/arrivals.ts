import { setTimeout as sleep } from 'node:timers/promises';
import { requestText } from '../../bench/requests.ts';
import { requestOnce } from './exchange.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';

/** Clients that connect one after another, and list 20 plants each. */
export interface ArrivalOptions {
  readonly port: number;
  readonly clients: number;
  readonly everyMs: number;
  readonly user: string;
}

const maxWaitMs = 5000;

export async function arriveOneByOne(options: ArrivalOptions, control: Control): Promise<StatsReport> {
  const { port, clients, everyMs, user } = options;
  control.ready();
  const stats = new ResponseStats();
  const pending: Promise<unknown>[] = [];
  for (let n = 0; n < clients; n++) {
    const send = async (): Promise<{ status: number } | undefined> => {
      const outcome = await requestOnce(port, requestText('GET', '/plants?limit=20', user), maxWaitMs);
      return typeof outcome === 'number' ? { status: outcome } : undefined;
    };
    pending.push(stats.measure(send));
    await sleep(everyMs);
  }
  await Promise.all(pending);
  return stats.report();
}
