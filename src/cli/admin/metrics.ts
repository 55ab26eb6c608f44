/** The media type of the Prometheus text format. The other plain-text responses use it, too. */
export const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';

/** The upper bounds of the histogram buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, Infinity];

/** Formats a metric in the Prometheus text format 0.0.4. A sample is the part of a line after the metric's name. */
export function formatMetric(
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  samples: readonly string[],
): string {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples.map((sample) => name + sample)];
  return `${lines.join('\n')}\n`;
}

/** Counts events by labels such as `operation="getPlants"`. The labels must be from a small fixed set. */
export class Counter {
  readonly #counts = new Map<string, number>();

  add(labels: string, count = 1): void {
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + count);
  }

  samples(): string[] {
    return [...this.#counts].map(([labels, count]) => `{${labels}} ${count}`);
  }
}

/** Counts durations by labels, which may be empty. A bucket counts the durations up to its bound. */
export class Histogram {
  readonly #series = new Map<string, { buckets: { bound: number; count: number }[]; sum: number }>();

  add(labels: string, seconds: number): void {
    let series = this.#series.get(labels);
    if (series === undefined) {
      series = { buckets: bounds.map((bound) => ({ bound, count: 0 })), sum: 0 };
      this.#series.set(labels, series);
    }
    for (const bucket of series.buckets) if (seconds <= bucket.bound) bucket.count++;
    series.sum += seconds;
  }

  samples(): string[] {
    return [...this.#series].flatMap(([labels, { buckets, sum }]) => {
      const prefix = labels === '' ? '' : `${labels},`;
      const lines = buckets.map(({ bound, count }) => {
        return `_bucket{${prefix}le="${bound === Infinity ? '+Inf' : bound}"} ${count}`;
      });
      return [...lines, `_sum{${labels}} ${sum}`, `_count{${labels}} ${buckets.at(-1)?.count ?? 0}`];
    });
  }
}
