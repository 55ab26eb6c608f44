import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { asStorageError, errorTable } from '../core/model/errors.ts';
import type { StorageAdapter } from '../core/storage-adapter.ts';
import type { CommitMessage } from '../core/write-queue.ts';
import { manageConnections, openConnections } from '../http/node/connections.ts';
import type { RequestMessage } from '../http/trace.ts';
import type { TokenGrants } from '../tokens/grants.ts';
import { version } from './command-line.ts';
import { commit } from './commit.ts';
import { describeError } from './errors.ts';
import type { Log } from './log.ts';
import { printable } from './process.ts';

/** The media type of the Prometheus text format. The other plain-text responses use it, too. */
const mediaType = 'text/plain; version=0.0.4; charset=utf-8';

/** The public port leaves file descriptors free for these connections, even if it has reached its connection limit. */
const maxConnections = 32;

/** Creates the server of the admin port. Evicts idle connections, so that stalled clients do not block the port. */
export function createAdminServer(
  publicServer: Server,
  readiness: Readiness,
  grants: Pick<TokenGrants, 'problem' | 'refusesAll'>,
): Server {
  const formatMetrics = collectMetrics(publicServer);

  async function page(path: string): Promise<[status: number, text: string]> {
    if (!['/live', '/ready', '/metrics'].includes(path)) {
      return [path === '/' ? 200 : 404, 'The pages are /live, /ready and /metrics.\n'];
    }
    if (path === '/live') return [200, 'ok\n'];
    if (path === '/ready' && grants.refusesAll) return [503, `${grants.problem}\n`];
    const problem = await readiness.storageProblem();
    if (path === '/metrics') return [200, formatMetrics({ storage: problem === '', tokens: grants.problem === '' })];
    if (problem !== '') return [503, `The storage does not work: ${problem}\n`];
    return readiness.isServing ? [200, 'ok\n'] : [503, 'The server is starting or stopping.\n'];
  }

  const server = createServer(({ url = '' }, response) => {
    void page(url.replace(/\?.*/s, '')).then(([status, text]) => {
      // Otherwise, idle keep-alive connections would count toward `maxConnections`.
      response.writeHead(status, { 'Content-Type': mediaType, Connection: 'close' }).end(text);
    });
  });
  manageConnections(server);
  return Object.assign(server, { maxConnections });
}

/** How long a request waits for a check, and how long the result of a check is reused. */
const checkMs = 1000;
const late = 'It did not respond within a second.';

/** Checks on request, at most once a second, whether the storage can be read and written. */
export class Readiness {
  readonly #storage: StorageAdapter;
  readonly #log: Log;
  /** No plant belongs to this user, so the commit of a check changes nothing. */
  readonly #user = randomUUID();
  /** The latest check. At most one check runs at a time, so that checks do not accumulate if the storage hangs. */
  #latest: Promise<string> | undefined;
  /** Why the storage does not work; `undefined` if it works. */
  failure: unknown;
  /** Set to `false` while the server starts or stops. Then `/ready` returns 503, and problems are not logged. */
  isServing = false;

  constructor(storage: StorageAdapter, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  /**
   * Returns why the storage does not work, on one line, or '' if it works. The storage must respond within a second.
   * Logs the first of several consecutive failures, and the recovery.
   */
  async storageProblem(): Promise<string> {
    this.#latest ??= this.#check();
    return Promise.race([this.#latest, sleep(checkMs, late, { ref: false })]);
  }

  async #check(): Promise<string> {
    // If the check settles later, its result replaces this failure.
    const timer = setTimeout(() => {
      this.#report(asStorageError(new Error(late)));
    }, checkMs).unref();
    try {
      await this.#storage.list(this.#user, { after: undefined, limit: 1 });
      // Unlike `list`, a commit fails if the file is read-only or if the write permission is missing. This commit can
      // overlap a commit of the store, but not another check.
      await this.#storage.commit([{ kind: 'delete', user: this.#user, id: 0n }]);
      this.#report(undefined);
    } catch (error) {
      this.#report(asStorageError(error));
    }
    clearTimeout(timer);
    setTimeout(() => (this.#latest = undefined), checkMs).unref();
    return this.failure === undefined ? '' : printable(describeError(this.failure));
  }

  #report(failure: unknown): void {
    const before = this.failure;
    this.failure = failure;
    if (!this.isServing) return;
    if (failure === undefined && before !== undefined) this.#log.info('The storage works again.');
    if (failure !== undefined && before === undefined) this.#log.error('The storage does not work', failure);
  }
}

/** Collects metrics from diagnostics channels until the process ends. The returned function formats them. */
function collectMetrics(server: Server): (isUp: { storage: boolean; tokens: boolean }) => string {
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
      ['plant_store_http_request_duration_seconds', 'histogram', 'Time of a request.', durations.samples()],
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
