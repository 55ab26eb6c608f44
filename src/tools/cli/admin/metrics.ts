export type Metric = readonly [
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  value: Tally | number | undefined,
];

/** The media type of the Prometheus text format. The other plain-text responses use it, too. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** Formats metrics in the Prometheus text format 0.0.4. Omits metrics without samples or with an unknown value. */
export function formatMetrics(metrics: readonly Metric[]): string {
  let text = '';
  for (const [type, name, help, value] of metrics) {
    const samples = value instanceof Tally ? value.samples(name) : value === undefined ? '' : `${name} ${value}\n`;
    if (samples !== '') text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples}`;
  }
  return text;
}

/** The labels of a sample. The values must be from a small fixed set, and must not contain quotes or line breaks. */
type Labels = Readonly<Record<string, string>>;

/** The counts of all events with the same labels. A bucket counts the events up to its bound. */
interface Series {
  readonly labels: Labels;
  readonly buckets: { readonly bound: number; count: number }[];
  count: number;
  sum: number;
}

/** Counts events and adds up their values, separately for each combination of labels. */
export class Tally {
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  /** `bounds` are the upper bounds of a histogram's buckets, in ascending order. A counter has no bounds. */
  constructor(bounds: readonly number[] = []) {
    this.#bounds = bounds;
  }

  /** Counts `by` events with this value. If `by` is 0, only creates the samples, so that they exist from the start. */
  add(labels: Labels = {}, value = 0, by = 1): this {
    const key = Object.values(labels).join(' ');
    const buckets = this.#bounds.map((bound) => ({ bound, count: 0 }));
    const series = this.#series.get(key) ?? { labels, buckets, count: 0, sum: 0 };
    this.#series.set(key, series);
    for (const bucket of series.buckets) if (value <= bucket.bound) bucket.count += by;
    series.count += by;
    series.sum += value;
    return this;
  }

  /** Returns the sample lines: the histogram of the values if there are bounds, and the number of events otherwise. */
  samples(name: string): string {
    let text = '';
    for (const { labels, buckets, count, sum } of this.#series.values()) {
      if (buckets.length === 0) {
        text += sample(name, labels, count);
        continue;
      }
      for (const bucket of [...buckets, { bound: '+Inf', count }]) {
        text += sample(`${name}_bucket`, { ...labels, le: String(bucket.bound) }, bucket.count);
      }
      text += sample(`${name}_sum`, labels, sum) + sample(`${name}_count`, labels, count);
    }
    return text;
  }
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, content]) => `${label}="${content}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}
