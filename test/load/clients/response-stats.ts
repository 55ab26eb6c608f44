import { quantile } from '../../bench/report.ts';

/** The outcomes of the requests of a load. */
export interface StatsReport {
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests whose connection was closed without a response. */
  readonly closed: number;
  /** Requests without a response at the end. */
  readonly unanswered: number;
  readonly served: number;
  /** Milliseconds from sending to the end of the response, for a status under 300. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest time from a request to its response or to the end of its connection, in milliseconds. */
  readonly longestMs: number;
}

/** Counts the outcomes of requests. */
export class ResponseStats {
  readonly #served: number[] = [];
  readonly #statuses: Record<string, number> = {};
  #closed = 0;
  #waiting = 0;
  #longestMs = 0;

  /** Sends a request by `send`, which resolves with its response, or with `undefined` if the connection is closed. */
  async measure<Response extends { readonly status: number }>(
    send: () => Promise<Response | undefined>,
  ): Promise<Response | undefined> {
    const sentAt = performance.now();
    this.#waiting++;
    const response = await send();
    this.#waiting--;
    const now = performance.now();
    this.#longestMs = Math.max(this.#longestMs, now - sentAt);
    if (response === undefined) {
      this.#closed++;
      return undefined;
    }
    this.#statuses[response.status] = (this.#statuses[response.status] ?? 0) + 1;
    if (response.status < 300) this.#served.push(now - sentAt);
    return response;
  }

  report(): StatsReport {
    const served = Float64Array.from(this.#served).sort();
    return {
      statuses: this.#statuses,
      closed: this.#closed,
      unanswered: this.#waiting,
      served: served.length,
      p50Ms: quantile(served, 0.5),
      p99Ms: quantile(served, 0.99),
      longestMs: this.#longestMs,
    };
  }
}
