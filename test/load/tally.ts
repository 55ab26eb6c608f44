import { quantile } from '../bench/report.ts';

/** What became of the requests of a load. */
export interface TallyReport {
  /** How many answers had each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests whose connection was closed instead of an answer. */
  readonly closed: number;
  /** Requests that had no answer in the end. */
  readonly unanswered: number;
  readonly answeredPerSecond: number;
  /** How many were answered with a status under 300 in each second of the load. */
  readonly bySecond: readonly number[];
  /** Milliseconds from sending to the end of the answer, of those with a status under 300. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The same of those answered 503. */
  readonly refusedP99Ms: number;
  /** When the last answer with a status under 300 came, as `Date.now()` has it. */
  readonly lastAdmittedAt: number;
}

/** Counts what becomes of requests. */
export class Tally {
  readonly #start = performance.now();
  readonly #admitted: number[] = [];
  readonly #refused: number[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #bySecond: number[] = [];
  #lastAdmittedAt = 0;
  closed = 0;
  unanswered = 0;

  answered(status: number, ms: number): void {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (status === 503) this.#refused.push(ms);
    if (status >= 300) return;
    this.#admitted.push(ms);
    const second = Math.floor((performance.now() - this.#start) / 1000);
    this.#bySecond[second] = (this.#bySecond[second] ?? 0) + 1;
    this.#lastAdmittedAt = Date.now();
  }

  report(): TallyReport {
    const admitted = Float64Array.from(this.#admitted).sort();
    const seconds = (performance.now() - this.#start) / 1000;
    return {
      statuses: this.#statuses,
      closed: this.closed,
      unanswered: this.unanswered,
      answeredPerSecond: admitted.length / seconds,
      bySecond: Array.from({ length: Math.floor(seconds) }, (_, second) => this.#bySecond[second] ?? 0),
      p50Ms: quantile(admitted, 0.5),
      p99Ms: quantile(admitted, 0.99),
      maxMs: admitted.at(-1) ?? NaN,
      refusedP99Ms: quantile(Float64Array.from(this.#refused).sort(), 0.99),
      lastAdmittedAt: this.#lastAdmittedAt,
    };
  }
}
