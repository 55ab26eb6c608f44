import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { openConnections } from '../../../http/node/connections.ts';
import type { CommitMessage, RequestMessage } from '../../../core/model/diagnostics.ts';
import type { PlantStore } from '../../../core/plant-store.ts';
import { isRejectedInput } from '../rejected-input.ts';
import { Counter, Histogram, metric } from './metrics.ts';

/** The bounds of the duration buckets, in seconds: 1 ms to 10 s. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The bounds of the buckets for writes per commit. A commit contains at most 1000 writes. */
const writeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** The error codes that indicate a failure of the storage. */
const storageFailures: ReadonlySet<string | undefined> = new Set(['storage_unavailable', 'storage_unsupported']);

/**
 * Collects the metrics of the service from diagnostics channels and from events of its server, until the process ends.
 * Returns a function that formats them.
 */
export function collectServiceMetrics(server: Server, store: PlantStore): () => string {
  const requests = new Counter('plant_store_http_requests_total', 'Requests by operation and status.');
  const durations = new Histogram(
    'plant_store_http_request_duration_seconds',
    'Time from the arrival of the request header to the end of the response.',
    durationBounds,
  );
  const errors = new Counter('plant_store_http_errors_total', 'Error responses by error code.');
  const incomplete = new Counter(
    'plant_store_http_incomplete_responses_total',
    'Responses that were not sent completely: the client disconnected, or an error cut a list short.',
    [{}],
  );
  const rejected = new Counter(
    'plant_store_http_rejected_total',
    'Requests that node:http rejected: invalid HTTP, a header that is too large, a timeout.',
    [{}],
  );
  const dropped = new Counter(
    'plant_store_http_dropped_connections_total',
    'Connections that were closed at once because too many were open.',
    [{}],
  );
  const evicted = new Counter(
    'plant_store_http_evicted_connections_total',
    'Connections that were closed to make room for new ones.',
    [{}],
  );
  const commitWrites = new Histogram('plant_store_commit_writes', 'Writes per commit.', writeBounds);
  const commitDurations = new Histogram(
    'plant_store_commit_duration_seconds',
    'Time of a commit to the storage.',
    durationBounds,
  );
  const storageErrors = new Counter(
    'plant_store_storage_errors_total',
    'Failures of the storage, by operation.',
    ['commit', 'list'].map((operation) => ({ operation })),
  );

  subscribe('plant-store:request', (message) => {
    const { operation = 'none', status, error, user, durationMs, isComplete } = message as RequestMessage;
    requests.increment({ operation, status: String(status) });
    durations.observe(durationMs / 1000, { operation });
    if (error !== undefined) errors.increment({ code: error });
    if (!isComplete) incomplete.increment();
    // If there is no user, the error is from authentication: the tokens file has failed, not the storage.
    if (operation === 'getPlants' && user !== undefined && storageFailures.has(error)) {
      storageErrors.increment({ operation: 'list' });
    }
  });
  subscribe('plant-store:commit', (message) => {
    const { writes, durationMs, error } = message as CommitMessage;
    commitWrites.observe(writes);
    commitDurations.observe(durationMs / 1000);
    if (storageFailures.has(error)) storageErrors.increment({ operation: 'commit' });
  });
  server.on('clientError', (error) => {
    if (isRejectedInput(error)) rejected.increment();
  });
  server.on('drop', () => {
    dropped.increment();
  });
  server.on('connectionEvicted', () => {
    evicted.increment();
  });

  const collected = [requests, durations, errors, incomplete, rejected, dropped, evicted];
  collected.push(commitWrites, commitDurations, storageErrors);
  return () => {
    const open = openConnections(server).size;
    const most = server.maxConnections;
    return [
      ...collected.map((one) => one.text()),
      metric('gauge', 'plant_store_http_open_connections', 'Open connections of the public port.', open),
      metric(
        'gauge',
        'plant_store_http_max_connections',
        'Maximum number of open connections of the public port.',
        most,
      ),
      metric('gauge', 'plant_store_pending_writes', 'Pending writes.', store.pendingWrites),
    ].join('');
  };
}
