import { setTimeout as sleep } from 'node:timers/promises';
import { randomId } from '../../bench/data-set.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';
import { sendByFetch } from './send-by-fetch.ts';

/** One user who sends requests at a fixed rate, regardless of how long the responses take. */
export interface FixedRateOptions {
  readonly port: number;
  readonly user: string;
  readonly perSecond: number;
  readonly milliseconds: number;
}

/** Sent in turn. A list of 2000 plants needs more than one page. */
const works = ['create', 'list 20', 'list 2000'];
const tickMs = 10;
/** The wait for late responses at the end. */
const graceMs = 5000;

export async function runAtFixedRate(options: FixedRateOptions, control: Control): Promise<StatsReport> {
  const { port, user, perSecond, milliseconds } = options;
  const stats = new ResponseStats();
  const send = (work: string): Promise<unknown> =>
    stats.measure(() =>
      work === 'create'
        ? sendByFetch(port, user, '/plants', { id: randomId(), name: 'Fern', tag: 'indoor' })
        : sendByFetch(port, user, `/plants?limit=${work.slice('list '.length)}`),
    );
  control.ready();
  const start = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let now = start; now < start + milliseconds; now = performance.now()) {
    for (const due = ((now - start) * perSecond) / 1000; pending.length < due;) {
      pending.push(send(works[pending.length % works.length] ?? 'create'));
    }
    await sleep(tickMs);
  }
  await Promise.race([Promise.all(pending), sleep(graceMs, undefined, { ref: false })]);
  return stats.report();
}
