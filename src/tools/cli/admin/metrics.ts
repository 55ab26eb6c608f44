/** The media type of the Prometheus text format, which also fits other plain text. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The labels of a sample. Their values must be from a small fixed set, because Prometheus stores a separate time series
 * for each combination of values. They must not contain quotes, backslashes or line breaks.
 */
type Labels = Readonly<Record<string, string>>;

/** A measured value. Only the samples of a histogram have a suffix, which follows the name of the metric. */
interface Sample {
  readonly value: number;
  readonly labels?: Labels;
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** A metric: its type, its name, its help text, and its samples or its only value. */
export type Metric = readonly [
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  samples: readonly Sample[] | number | undefined,
];

/** Formats metrics in the Prometheus text format 0.0.4. Omits metrics without samples or with an unknown value. */
export function formatMetrics(metrics: readonly Metric[]): string {
  let text = '';
  for (const [type, name, help, measured = []] of metrics) {
    const samples = typeof measured === 'number' ? [{ value: measured }] : measured;
    if (samples.length > 0) text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const { value, labels = {}, suffix = '' } of samples) {
      const pairs = Object.entries(labels).map(([label, content]) => `${label}="${content}"`);
      text += `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
    }
  }
  return text;
}

/** Counts events and the values that they have, separately for each combination of labels. */
export class Tally {
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly labels: Labels; readonly counts: number[]; sum: number }>();

  /** `bounds` are the upper bounds of the buckets of a histogram in ascending order, without +Inf. */
  constructor(bounds: readonly number[] = []) {
    this.#bounds = [...bounds, Infinity];
  }

  /** Counts `by` events with these labels and this value. If `by` is 0, their samples exist before the first event. */
  add(labels: Labels = {}, value = 0, by = 1): void {
    const key = Object.values(labels).join(' ');
    const series = this.#series.get(key) ?? { labels, counts: this.#bounds.map(() => 0), sum: 0 };
    this.#series.set(key, series);
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    series.counts[bucket] = (series.counts[bucket] ?? 0) + by;
    series.sum += value;
  }

  /** Returns the samples of a counter: the number of events. */
  count(): Sample[] {
    return [...this.#series.values()].map(({ labels, counts }) => ({ labels, value: sumOf(counts) }));
  }

  /** Returns the samples of a histogram: the cumulative buckets, the sum of the values, and the number of events. */
  distribution(): Sample[] {
    return [...this.#series.values()].flatMap(({ labels, counts, sum }) => [
      ...this.#bounds.map((bound, index) => ({
        suffix: '_bucket' as const,
        labels: { ...labels, le: bound === Infinity ? '+Inf' : String(bound) },
        value: sumOf(counts.slice(0, index + 1)),
      })),
      { suffix: '_sum', labels, value: sum },
      { suffix: '_count', labels, value: sumOf(counts) },
    ]);
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
