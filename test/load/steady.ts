import { Agent, request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomId, tokenOf } from '../bench/garden.ts';
import type { Control } from './generator.ts';
import { Tally } from './tally.ts';
import type { TallyReport } from './tally.ts';

/** A request that the user of a steady load makes. */
export type SteadyWork = 'create' | 'list 20' | 'list 2000';

/** One user who makes requests at a fixed rate, however long the responses take. */
export interface SteadyOptions {
  readonly port: number;
  readonly user: string;
  readonly perSecond: number;
  readonly milliseconds: number;
  /** Made in turn. */
  readonly works: readonly SteadyWork[];
}

export interface SteadyReport {
  readonly all: TallyReport;
  readonly byWork: Readonly<Partial<Record<SteadyWork, TallyReport>>>;
  /** Requests that were refused, closed or not answered. */
  readonly failed: number;
  readonly sent: number;
  /** Milliseconds; requests that failed count too. */
  readonly longestWaitMs: number;
}

const tickMs = 10;
/** For responses that are late at the end. */
const graceMs = 5000;

export async function runSteadily(options: SteadyOptions, control: Control): Promise<SteadyReport> {
  const { milliseconds, perSecond, works } = options;
  const user = new SteadyUser(options);
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

class SteadyUser {
  readonly #options: SteadyOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #all = new Tally();
  readonly #byWork = new Map<SteadyWork, Tally>();
  readonly #waiting = new Map<ClientRequest, { work: SteadyWork; sentAt: number }>();
  #longestWaitMs = 0;

  constructor(options: SteadyOptions) {
    this.#options = options;
    for (const work of options.works) this.#byWork.set(work, new Tally());
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  send(work: SteadyWork): void {
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
      // 'close' follows 'end', and comes alone when the response is cut off.
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

  finish(sent: number): SteadyReport {
    for (const [unanswered, { work }] of this.#waiting) {
      this.#waitedFor(unanswered);
      for (const tally of this.#talliesOf(work)) tally.unanswered++;
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
      byWork: Object.fromEntries([...this.#byWork].map(([work, tally]) => [work, tally.report()])),
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
    for (const tally of this.#talliesOf(waiting.work)) {
      if (status === undefined) tally.closed++;
      else tally.answered(status, ms);
    }
  }

  #waitedFor(sent: ClientRequest): number {
    const ms = performance.now() - (this.#waiting.get(sent)?.sentAt ?? NaN);
    this.#longestWaitMs = Math.max(this.#longestWaitMs, ms);
    return ms;
  }

  #talliesOf(work: SteadyWork): Tally[] {
    return [this.#all, this.#byWork.get(work) ?? new Tally()];
  }
}
