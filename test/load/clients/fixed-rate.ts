import { Agent, request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomId, tokenOf } from '../../bench/data-set.ts';
import type { Control } from './load-process.ts';
import { ResponseStats } from './response-stats.ts';
import type { StatsReport } from './response-stats.ts';

/** A kind of request. */
export type FixedRateWork = 'create' | 'list 20' | 'list 2000';

/** One user who sends requests at a fixed rate, regardless of how long the responses take. */
export interface FixedRateOptions {
  readonly port: number;
  readonly user: string;
  readonly perSecond: number;
  readonly milliseconds: number;
  /** Sent in turn. */
  readonly works: readonly FixedRateWork[];
}

export interface FixedRateReport {
  readonly all: StatsReport;
  readonly byWork: Readonly<Partial<Record<FixedRateWork, StatsReport>>>;
  /** Requests that were refused, closed or unanswered. */
  readonly failed: number;
  readonly sent: number;
  /** Milliseconds, with failed requests. */
  readonly longestWaitMs: number;
}

const tickMs = 10;
/** The wait for late responses at the end. */
const graceMs = 5000;

export async function runAtFixedRate(options: FixedRateOptions, control: Control): Promise<FixedRateReport> {
  const { milliseconds, perSecond, works } = options;
  const user = new FixedRateUser(options);
  control.ready();
  const start = performance.now();
  let sent = 0;
  for (let now = start; now < start + milliseconds; now = performance.now()) {
    for (const due = ((now - start) * perSecond) / 1000; sent < due; sent++) {
      user.send(works[sent % works.length] ?? 'create');
    }
    await sleep(tickMs);
  }
  for (const deadline = performance.now() + graceMs; user.isWaiting && performance.now() < deadline;) await sleep(50);
  return user.finish(sent);
}

class FixedRateUser {
  readonly #options: FixedRateOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #all = new ResponseStats();
  readonly #byWork = new Map<FixedRateWork, ResponseStats>();
  readonly #waiting = new Map<ClientRequest, { work: FixedRateWork; sentAt: number }>();
  #longestWaitMs = 0;

  constructor(options: FixedRateOptions) {
    this.#options = options;
    for (const work of options.works) this.#byWork.set(work, new ResponseStats());
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  send(work: FixedRateWork): void {
    const { port, user } = this.#options;
    const isCreate = work === 'create';
    const sent = request({
      host: '127.0.0.1',
      port,
      agent: this.#agent,
      method: isCreate ? 'POST' : 'GET',
      path: isCreate ? '/plants' : `/plants?limit=${work.slice('list '.length)}`,
      headers: { authorization: `Bearer ${tokenOf(user)}`, ...(isCreate && { 'content-type': 'application/json' }) },
    });
    this.#waiting.set(sent, { work, sentAt: performance.now() });
    sent.once('response', (response: IncomingMessage) => {
      response.resume();
      // 'close' follows 'end', and is emitted without it if the response is incomplete.
      response.once('close', () => {
        this.#settle(sent, response.complete ? response.statusCode : undefined);
      });
      response.on('error', () => undefined);
    });
    sent.on('error', () => {
      this.#settle(sent, undefined);
    });
    sent.end(isCreate ? JSON.stringify({ id: randomId(), name: 'Fern', tag: 'indoor' }) : undefined);
  }

  finish(sent: number): FixedRateReport {
    for (const [unanswered, { work }] of this.#waiting) {
      this.#waitedFor(unanswered);
      for (const stats of this.#statsOf(work)) stats.unanswered++;
    }
    this.#waiting.clear();
    this.#agent.destroy();
    const all = this.#all.report();
    const served = Object.entries(all.statuses).reduce(
      (sum, [status, count]) => sum + (Number(status) < 300 ? count : 0),
      0,
    );
    return {
      all,
      byWork: Object.fromEntries([...this.#byWork].map(([work, stats]) => [work, stats.report()])),
      failed: sent - served,
      sent,
      longestWaitMs: this.#longestWaitMs,
    };
  }

  #settle(sent: ClientRequest, status: number | undefined): void {
    const waiting = this.#waiting.get(sent);
    if (waiting === undefined) return;
    const ms = this.#waitedFor(sent);
    this.#waiting.delete(sent);
    for (const stats of this.#statsOf(waiting.work)) {
      if (status === undefined) stats.closed++;
      else stats.add(status, ms);
    }
  }

  #waitedFor(sent: ClientRequest): number {
    const ms = performance.now() - (this.#waiting.get(sent)?.sentAt ?? NaN);
    this.#longestWaitMs = Math.max(this.#longestWaitMs, ms);
    return ms;
  }

  #statsOf(work: FixedRateWork): ResponseStats[] {
    return [this.#all, this.#byWork.get(work) ?? new ResponseStats()];
  }
}
