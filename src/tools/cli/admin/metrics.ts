/** The media type of the Prometheus text format, which also fits other plain text. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The labels of a sample. Their values must be from a small fixed set, because Prometheus stores a separate time series
 * for each combination of values. They must not contain quotes, backslashes or line breaks.
 */
type Labels = Readonly<Record<string, string>>;

/** Formats a metric without its samples in the Prometheus text format 0.0.4. */
function header(type: 'counter' | 'gauge' | 'histogram', name: string, help: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

/** Formats a metric that has one sample. Returns an empty string if the value is unknown. */
export function metric(
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: number | undefined,
  labels: Labels = {},
): string {
  return value === undefined ? '' : header(type, name, help) + sample(name, labels, value);
}

/** Counts events, separately for each combination of labels. */
export class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>();

  /** `known` are combinations of labels whose samples exist even before the first event. */
  constructor(name: string, help: string, known: readonly Labels[] = []) {
    this.#name = name;
    this.#help = help;
    for (const labels of known) this.increment(labels, 0);
  }

  increment(labels: Labels = {}, by = 1): void {
    const key = Object.values(labels).join(' ');
    const { count } = this.#counts.get(key) ?? { count: 0 };
    this.#counts.set(key, { labels, count: count + by });
  }

  /** Formats the metric. Returns an empty string if there are no samples. */
  text(): string {
    const samples = [...this.#counts.values()].map(({ labels, count }) => sample(this.#name, labels, count));
    return samples.length === 0 ? '' : header('counter', this.#name, this.#help) + samples.join('');
  }
}

/** Counts observed values in cumulative buckets, separately for each combination of labels. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly labels: Labels; readonly counts: number[]; sum: number }>();

  /** `bounds` are the upper bounds of the buckets in ascending order, without +Inf. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = [...bounds, Infinity];
  }

  observe(value: number, labels: Labels = {}): void {
    const key = Object.values(labels).join(' ');
    const series = this.#series.get(key) ?? { labels, counts: this.#bounds.map(() => 0), sum: 0 };
    this.#series.set(key, series);
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  /** Formats the metric. Returns an empty string if there are no samples. */
  text(): string {
    if (this.#series.size === 0) return '';
    let text = header('histogram', this.#name, this.#help);
    for (const { labels, counts, sum } of this.#series.values()) {
      let total = 0;
      for (const [index, bound] of this.#bounds.entries()) {
        total += counts[index] ?? 0;
        text += sample(`${this.#name}_bucket`, { ...labels, le: bound === Infinity ? '+Inf' : String(bound) }, total);
      }
      text += sample(`${this.#name}_sum`, labels, sum) + sample(`${this.#name}_count`, labels, total);
    }
    return text;
  }
}
