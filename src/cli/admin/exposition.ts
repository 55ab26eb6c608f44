/** The media type of the Prometheus text format. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The labels of a sample. Their values must be from a small fixed set, because Prometheus stores a separate time series
 * for each combination of values.
 */
export type Labels = Readonly<Record<string, string>>;

/** A metric that can be formatted in the Prometheus text format. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Returns one line of text per sample, each ending with a line break. */
  samples(): string;
}

/** Formats metrics in the Prometheus text format 0.0.4. Metrics without samples are omitted. */
export function exposition(metrics: readonly Metric[]): string {
  return metrics
    .map((metric) => {
      const samples = metric.samples();
      const { name, help, type } = metric;
      return samples === '' ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples}`;
    })
    .join('');
}

/** Formats one sample as a line of the Prometheus text format. */
export function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n');
}
