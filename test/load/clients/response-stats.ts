import { quantile } from '../../bench/report.ts';

/** The outcomes of a load's requests. */
export interface StatsReport {
  /** The number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The number of requests whose connection was closed without a complete response. */
  readonly closed: number;
  /** The number of requests that had no response when the load ended. */
  readonly unanswered: number;
  readonly served: number;
  /** The time from sending a request to the end of its response, for requests with a status under 300. */
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

  /** Sends a request with `send`, which resolves with the response, or with `undefined` if the connection closes. */
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
