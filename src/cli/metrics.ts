import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import { errorTable } from '../core/model/errors.ts';
import type { CommitMessage } from '../core/write-queue.ts';
import { openConnections } from '../http/node/connections.ts';
import type { RequestMessage } from '../http/trace.ts';
import { commit } from './commit.ts';
import { version } from './package.ts';

/** Collects metrics from diagnostics channels until the process ends. The returned function formats them. */
export function collectMetrics(server: Server): (isUp: { storage: boolean; tokens: boolean }) => string {
  const requests = new Map<string, number>();
  const [durations, commits] = [new Histogram(), new Histogram()];

  // To Prometheus, a counter whose first value is 1 has not increased, so alerts would miss the first failure, or the
  // first success after failures.
  const successes = { createPlant: 200, getPlants: 200, deletePlant: 204 };
  for (const [operation, success] of Object.entries(successes)) {
    requests.set(`operation="${operation}",status="${success}"`, 0);
    for (const [code, { status }] of Object.entries(errorTable)) {
      if (status >= 500) requests.set(`operation="${operation}",status="${status}",code="${code}"`, 0);
    }
  }
  requests.set('operation="getPlants",status="200",code="incomplete"', 0);

  subscribe('tracing:plant-store:request:asyncEnd', (message) => {
    const { operation = 'none', status, code, durationMs } = message as RequestMessage;
    const labels = `operation="${operation}",status="${status}"${code === undefined ? '' : `,code="${code}"`}`;
    requests.set(labels, (requests.get(labels) ?? 0) + 1);
    durations.add(`operation="${operation}"`, durationMs / 1000);
  });
  subscribe('tracing:plant-store:commit:asyncEnd', (message) => {
    commits.add('', (message as CommitMessage).durationMs / 1000);
  });

  const build = `{version="${version}",commit="${commit}",node="${process.versions.node}"} 1`;
  const value = (number: number | boolean): string[] => [` ${Number(number)}`];
  return (isUp) => {
    const counts = Array.from(requests, ([labels, count]) => `{${labels}} ${count}`);
    const metrics: [name: string, type: string, help: string, samples: string[]][] = [
      ['plant_store_build_info', 'gauge', 'The running build.', [build]],
      ['process_start_time_seconds', 'gauge', 'Unix time.', value(performance.timeOrigin / 1000)],
      ['plant_store_http_requests_total', 'counter', 'Requests.', counts],
      [
        'plant_store_http_request_duration_seconds',
        'histogram',
        'From the request header to the response end.',
        durations.samples(),
      ],
      ['plant_store_http_open_connections', 'gauge', 'Open connections.', value(openConnections(server).size)],
      ['plant_store_http_max_connections', 'gauge', 'Maximum of open connections.', value(server.maxConnections)],
      ['plant_store_commit_duration_seconds', 'histogram', 'Time of a commit.', commits.samples()],
      ['plant_store_storage_up', 'gauge', 'Whether the storage works, 1 or 0.', value(isUp.storage)],
      ['plant_store_tokens_up', 'gauge', 'Whether the tokens file can be used, 1 or 0.', value(isUp.tokens)],
    ];
    const lines = metrics.flatMap(([name, type, help, samples]) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...samples.map((sample) => name + sample),
    ]);
    return `${lines.join('\n')}\n`;
  };
}

/** The upper bounds of the histogram buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, Infinity];

/** Counts durations by labels, which may be empty. A bucket counts the durations up to its bound. */
class Histogram {
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
