import { quantile } from '../../bench/report.ts';

/** The outcomes of the requests of a load. */
export interface StatsReport {
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests whose connection was closed without a response. */
  readonly closed: number;
  /** Requests without a response at the end. */
  readonly unanswered: number;
  readonly servedPerSecond: number;
  /** The number of responses with a status under 300 in each second. */
  readonly bySecond: readonly number[];
  /** Milliseconds from sending to the end of the response, for a status under 300. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The same for 503 responses. */
  readonly refusedP99Ms: number;
  /** When the last response with a status under 300 arrived, in milliseconds since 1970. */
  readonly lastServedAt: number;
}

/** Counts the outcomes of requests. */
export class ResponseStats {
  readonly #start = performance.now();
  readonly #served: number[] = [];
  readonly #refused: number[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #bySecond: number[] = [];
  #lastServedAt = 0;
  closed = 0;
  unanswered = 0;

  add(status: number, ms: number): void {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (status === 503) this.#refused.push(ms);
    if (status >= 300) return;
    this.#served.push(ms);
    const second = Math.floor((performance.now() - this.#start) / 1000);
    this.#bySecond[second] = (this.#bySecond[second] ?? 0) + 1;
    this.#lastServedAt = Date.now();
  }

  report(): StatsReport {
    const served = Float64Array.from(this.#served).sort();
    const seconds = (performance.now() - this.#start) / 1000;
    return {
      statuses: this.#statuses,
      closed: this.closed,
      unanswered: this.unanswered,
      servedPerSecond: served.length / seconds,
      bySecond: Array.from({ length: Math.floor(seconds) }, (_, second) => this.#bySecond[second] ?? 0),
      p50Ms: quantile(served, 0.5),
      p99Ms: quantile(served, 0.99),
      maxMs: served.at(-1) ?? NaN,
      refusedP99Ms: quantile(Float64Array.from(this.#refused).sort(), 0.99),
      lastServedAt: this.#lastServedAt,
    };
  }
}
