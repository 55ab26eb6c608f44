import { sample } from './exposition.ts';
import type { Labels, Metric } from './exposition.ts';

/** Counts events, separately for each combination of labels. */
export class Counter implements Metric {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  /** Adds a sample with the value 0, so that the sample exists even before the first event. */
  start(labels: Labels = {}): void {
    this.#counts.set(Object.values(labels).join(' '), { labels, count: 0 });
  }

  increment(labels: Labels = {}): void {
    const key = Object.values(labels).join(' ');
    const entry = this.#counts.get(key);
    if (entry === undefined) this.#counts.set(key, { labels, count: 1 });
    else entry.count++;
  }

  samples(): string {
    return [...this.#counts.values()].map(({ labels, count }) => sample(this.name, labels, count)).join('');
  }
}

/** A value that is read when the metrics are requested. If `read` returns `undefined`, the metric is omitted. */
export class Reading implements Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly #read: () => number | undefined;
  readonly #labels: Labels;

  constructor(
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    read: () => number | undefined,
    labels: Labels = {},
  ) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.#read = read;
    this.#labels = labels;
  }

  samples(): string {
    const value = this.#read();
    return value === undefined ? '' : sample(this.name, this.#labels, value);
  }
}

/** Counts observed values in cumulative buckets, separately for each combination of labels. */
export class Histogram implements Metric {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  /** `bounds` are the upper bounds of the buckets in ascending order, without +Inf. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  observe(value: number, labels: Labels = {}): void {
    const key = Object.values(labels).join(' ');
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels, counts: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#series.set(key, series);
    }
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? this.#bounds.length : bucket;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
  }

  samples(): string {
    return [...this.#series.values()].map((series) => this.#samplesOf(series)).join('');
  }

  #samplesOf({ labels, counts, sum }: Series): string {
    let total = 0;
    const buckets = counts.map((count, index) => {
      total += count;
      const le = this.#bounds[index] === undefined ? '+Inf' : String(this.#bounds[index]);
      return sample(`${this.name}_bucket`, { ...labels, le }, total);
    });
    return buckets.join('') + sample(`${this.name}_sum`, labels, sum) + sample(`${this.name}_count`, labels, total);
  }
}

interface Series {
  readonly labels: Labels;
  /** The non-cumulative count of each bucket. The upper bound of the last bucket is +Inf. */
  readonly counts: number[];
  sum: number;
}
