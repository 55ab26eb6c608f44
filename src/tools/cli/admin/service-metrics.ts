import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { openConnections } from '../../../http/node/connections.ts';
import type { CommitMessage, RequestMessage } from '../../../core/model/diagnostics.ts';
import type { PlantStore } from '../../../core/plant-store.ts';
import { isRejectedInput } from '../output/log.ts';
import { Tally } from './metrics.ts';
import type { Metric } from './metrics.ts';

/** The upper bounds of the histogram buckets for durations, in seconds. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The upper bounds of the histogram buckets for the number of writes in a commit. A commit has at most 1000 writes. */
const writeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

const durationsHelp = 'Time from the arrival of the request header to the end of the response.';
const incompleteHelp =
  'Responses that were not sent completely: the client disconnected, or an error cut a list short.';
const rejectedHelp = 'Requests that node:http rejected: invalid HTTP, a header that is too large, a timeout.';
const droppedHelp = 'Connections that were closed at once because too many were open.';
const evictedHelp = 'Connections that were closed to make room for new ones.';
const openHelp = 'Open connections of the public port.';
const maxHelp = 'Maximum number of open connections of the public port.';

const storageFailures: ReadonlySet<string | undefined> = new Set(['storage_unavailable', 'storage_unsupported']);

/**
 * Collects the service's metrics from diagnostics channels and from the server's events until the process ends. Returns
 * a function that returns the metrics.
 */
export function collectServiceMetrics(server: Server, store: PlantStore): () => Metric[] {
  const [requests, errors, durations] = [new Tally(), new Tally(), new Tally(durationBounds)];
  const [commitWrites, commitDurations] = [new Tally(writeBounds), new Tally(durationBounds)];
  const storageErrors = new Tally().add({ operation: 'commit' }, 0, 0).add({ operation: 'list' }, 0, 0);
  let [incomplete, rejected, dropped, evicted] = [0, 0, 0, 0];

  subscribe('tracing:plant-store:request:asyncEnd', (message) => {
    const { operation = 'none', status, code, user, durationMs, isComplete } = message as RequestMessage;
    requests.add({ operation, status: String(status) });
    durations.add({ operation }, durationMs / 1000);
    if (code !== undefined) errors.add({ code });
    if (!isComplete) incomplete++;
    // If `user` is undefined, the request was not authenticated, because the tokens file could not be read. Such a
    // request did not use the storage.
    if (operation === 'getPlants' && user !== undefined && storageFailures.has(code)) {
      storageErrors.add({ operation: 'list' });
    }
  });
  subscribe('tracing:plant-store:commit:asyncEnd', (message) => {
    const { writes, durationMs, error } = message as CommitMessage;
    commitWrites.add({}, writes);
    commitDurations.add({}, durationMs / 1000);
    if (storageFailures.has(error?.code)) storageErrors.add({ operation: 'commit' });
  });
  server.on('clientError', (error) => {
    if (isRejectedInput(error)) rejected++;
  });
  server.on('drop', () => dropped++);
  server.on('connectionEvicted', () => evicted++);

  return () => [
    ['counter', 'plant_store_http_requests_total', 'Requests by operation and status.', requests],
    ['histogram', 'plant_store_http_request_duration_seconds', durationsHelp, durations],
    ['counter', 'plant_store_http_errors_total', 'Error responses by error code.', errors],
    ['counter', 'plant_store_http_incomplete_responses_total', incompleteHelp, incomplete],
    ['counter', 'plant_store_http_rejected_total', rejectedHelp, rejected],
    ['counter', 'plant_store_http_dropped_connections_total', droppedHelp, dropped],
    ['counter', 'plant_store_http_evicted_connections_total', evictedHelp, evicted],
    ['histogram', 'plant_store_commit_writes', 'Writes per commit.', commitWrites],
    ['histogram', 'plant_store_commit_duration_seconds', 'Time of a commit to the storage.', commitDurations],
    ['counter', 'plant_store_storage_errors_total', 'Failures of the storage, by operation.', storageErrors],
    ['gauge', 'plant_store_http_open_connections', openHelp, openConnections(server).size],
    ['gauge', 'plant_store_http_max_connections', maxHelp, server.maxConnections],
    ['gauge', 'plant_store_pending_writes', 'Pending writes.', store.pendingWrites],
  ];
}
