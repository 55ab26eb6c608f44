import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { CommitMessage, RequestMessage } from '../../../core/model/diagnostics.ts';
import type { PlantStore } from '../../../core/plant-store.ts';
import { openConnections } from '../../../http/node/connections.ts';
import { isDiskFull } from '../advice.ts';
import { isRejectedInput } from '../output/log.ts';
import { Tally } from './metrics.ts';
import type { Metric } from './metrics.ts';

/** The upper bounds of the histogram buckets for durations, in seconds. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The upper bounds of the histogram buckets for the number of writes in a commit. A commit has at most 1000 writes. */
const writeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

const storageFailures: ReadonlySet<string | undefined> = new Set(['storage_unavailable', 'storage_unsupported']);

/** Collects metrics from diagnostics channels and from the server's events until the process ends. */
export function collectServiceMetrics(server: Server, store: PlantStore): () => Metric[] {
  const [requests, errors, durations] = [new Tally(), new Tally(), new Tally(durationBounds)];
  const [commitWrites, commitDurations] = [new Tally(writeBounds), new Tally(durationBounds)];
  const storageErrors = new Tally().add({ operation: 'commit' }, 0, 0).add({ operation: 'list' }, 0, 0);
  let [incomplete, rejected, dropped, evicted, isFull] = [0, 0, 0, 0, 0];

  subscribe('tracing:plant-store:request:asyncEnd', (message) => {
    const { operation = 'none', status, code, user, durationMs, isComplete } = message as RequestMessage;
    requests.add({ operation, status: String(status) });
    durations.add({ operation }, durationMs / 1000);
    if (code !== undefined) errors.add({ code });
    if (!isComplete) incomplete++;
    // A request without a user did not use the storage: it failed because the tokens file could not be read.
    if (operation === 'getPlants' && user !== undefined && storageFailures.has(code)) {
      storageErrors.add({ operation: 'list' });
    }
  });
  subscribe('tracing:plant-store:commit:asyncEnd', (message) => {
    const { writes, durationMs, error } = message as CommitMessage;
    commitWrites.add({}, writes);
    commitDurations.add({}, durationMs / 1000);
    isFull = Number(isDiskFull(error));
    if (storageFailures.has(error?.code)) storageErrors.add({ operation: 'commit' });
  });
  server.on('clientError', (error) => {
    if (isRejectedInput(error)) rejected++;
  });
  server.on('drop', () => dropped++);
  server.on('connectionEvicted', () => evicted++);

  const http = (type: Metric[0], name: string, help: string, value: Metric[3]): Metric => {
    return [type, `plant_store_http_${name}`, help, value];
  };
  return () => [
    http('counter', 'requests_total', 'Requests by operation and status.', requests),
    http(
      'histogram',
      'request_duration_seconds',
      'Time from the request header to the end of the response.',
      durations,
    ),
    http('counter', 'errors_total', 'Error responses by error code.', errors),
    http('counter', 'incomplete_responses_total', 'Responses that were not sent completely.', incomplete),
    http('counter', 'rejected_total', 'Requests that node:http rejected, such as invalid HTTP.', rejected),
    http('counter', 'dropped_connections_total', 'Connections closed at once because too many were open.', dropped),
    http('counter', 'evicted_connections_total', 'Connections closed to make room for new ones.', evicted),
    http('gauge', 'open_connections', 'Open connections of the public port.', openConnections(server).size),
    http('gauge', 'max_connections', 'Maximum number of open connections.', server.maxConnections),
    ['histogram', 'plant_store_commit_writes', 'Writes per commit.', commitWrites],
    ['histogram', 'plant_store_commit_duration_seconds', 'Time of a commit to the storage.', commitDurations],
    ['counter', 'plant_store_storage_errors_total', 'Failures of the storage, by operation.', storageErrors],
    ['gauge', 'plant_store_storage_full', 'Whether the last commit failed because the disk is full, 1 or 0.', isFull],
    ['gauge', 'plant_store_pending_writes', 'Pending writes.', store.pendingWrites],
  ];
}
