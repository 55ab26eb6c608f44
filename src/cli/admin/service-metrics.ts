import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { CommitMessage } from '../../core/trace.ts';
import { errorTable } from '../../core/model/errors.ts';
import type { RequestMessage } from '../../http/options.ts';
import { openConnections } from '../../http/node/connections.ts';
import { commit } from '../commit.ts';
import { version } from '../package.ts';
import { Counter, formatMetric, Histogram } from './metrics.ts';

/** Whether the storage works, and whether the tokens file can be used. */
interface Up {
  readonly storage: boolean;
  readonly tokens: boolean;
}

/** Collects metrics from diagnostics channels until the process ends. The returned function formats them. */
export function collectServiceMetrics(server: Server): (isUp: Up) => string {
  const [requests, durations, commits] = [new Counter(), new Histogram(), new Histogram()];

  // To Prometheus, a counter whose first value is 1 has not increased, so alerts would miss the first failure, or the first
  // success after failures.
  const successes = { createPlant: 200, getPlants: 200, deletePlant: 204 };
  for (const [operation, success] of Object.entries(successes)) {
    requests.add(`operation="${operation}",status="${success}"`, 0);
    for (const [code, { status }] of Object.entries(errorTable)) {
      if (status >= 500) requests.add(`operation="${operation}",status="${status}",code="${code}"`, 0);
    }
  }
  requests.add('operation="getPlants",status="200",code="incomplete"', 0);

  subscribe('tracing:plant-store:request:asyncEnd', (message) => {
    const { operation = 'none', status, code, durationMs } = message as RequestMessage;
    requests.add(`operation="${operation}",status="${status}"${code === undefined ? '' : `,code="${code}"`}`);
    durations.add(`operation="${operation}"`, durationMs / 1000);
  });
  subscribe('tracing:plant-store:commit:asyncEnd', (message) => {
    commits.add('', (message as CommitMessage).durationMs / 1000);
  });

  const build = `version="${version}",commit="${commit}",node="${process.versions.node}"`;
  const value = (number: number | boolean): string[] => [` ${Number(number)}`];
  return (isUp) => {
    const [open, max] = [value(openConnections(server).size), value(server.maxConnections)];
    const seconds = 'Time from the request header to the end of the response.';
    return [
      formatMetric('gauge', 'plant_store_build_info', 'The running build.', [`{${build}} 1`]),
      formatMetric('gauge', 'process_start_time_seconds', 'Unix time.', value(performance.timeOrigin / 1000)),
      formatMetric('counter', 'plant_store_http_requests_total', 'Requests.', requests.samples()),
      formatMetric('histogram', 'plant_store_http_request_duration_seconds', seconds, durations.samples()),
      formatMetric('gauge', 'plant_store_http_open_connections', 'Open connections of the public port.', open),
      formatMetric('gauge', 'plant_store_http_max_connections', 'Maximum number of open connections.', max),
      formatMetric('histogram', 'plant_store_commit_duration_seconds', 'Time of a commit.', commits.samples()),
      formatMetric('gauge', 'plant_store_storage_up', 'Whether the storage works, 1 or 0.', value(isUp.storage)),
      formatMetric(
        'gauge',
        'plant_store_tokens_up',
        'Whether the tokens file can be used, 1 or 0.',
        value(isUp.tokens),
      ),
    ].join('');
  };
}
