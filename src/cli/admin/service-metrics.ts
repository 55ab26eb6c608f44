import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { CommitMessage, RequestMessage } from '../../model/diagnostics.ts';
import type { PlantStore } from '../../store/plant-store.ts';
import type { Metric } from './exposition.ts';
import { Counter, Histogram, Reading } from './metric-types.ts';

/** The bounds of the duration buckets, in seconds: 1 ms to 10 s. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The bounds of the buckets for writes per commit. A commit contains at most 1000 writes. */
const writeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** The error codes that indicate a failure of the storage. */
const storageErrors: ReadonlySet<string | undefined> = new Set(['storage_unavailable', 'storage_unsupported']);

/** The metrics of the service. They are collected from diagnostics channels and from server events. */
export class ServiceMetrics {
  readonly #requests = new Counter('plant_store_http_requests_total', 'Requests by operation and status.');
  readonly #durations = new Histogram(
    'plant_store_http_request_duration_seconds',
    'Time from the arrival of the request header to the end of the response.',
    durationBounds,
  );
  readonly #errors = new Counter('plant_store_http_errors_total', 'Error responses by error code.');
  readonly #rejected = new Counter(
    'plant_store_http_rejected_total',
    'Requests that node:http rejected: invalid HTTP, a header that is too large, a timeout.',
  );
  readonly #incomplete = new Counter(
    'plant_store_http_incomplete_responses_total',
    'Responses that were not sent completely: the client disconnected, or an error cut a list short.',
  );
  readonly #dropped = new Counter(
    'plant_store_http_dropped_connections_total',
    'Connections that were closed at once because too many were open.',
  );
  readonly #idleClosed = new Counter(
    'plant_store_http_idle_closed_connections_total',
    'Idle connections that were closed to make room for new ones.',
  );
  readonly #commitWrites = new Histogram('plant_store_commit_writes', 'Writes per commit.', writeBounds);
  readonly #commitDurations = new Histogram(
    'plant_store_commit_duration_seconds',
    'Time of a commit to the storage.',
    durationBounds,
  );
  readonly #storageErrors = new Counter('plant_store_storage_errors_total', 'Failures of the storage, by operation.');
  #readings: readonly Metric[] = [];

  constructor() {
    // Before the first event, these counters are 0 instead of absent.
    for (const counter of [this.#incomplete, this.#dropped, this.#idleClosed, this.#rejected]) counter.start();
    for (const operation of ['commit', 'list']) this.#storageErrors.start({ operation });
    subscribe('plant-store:request', this.#onRequest);
    subscribe('plant-store:commit', this.#onCommit);
  }

  /** Starts collecting the metrics of a server and its store. */
  watch(server: Server, store: PlantStore): void {
    let open = 0;
    server.on('connection', (socket) => {
      open++;
      socket.once('close', () => open--);
    });
    server.on('drop', () => {
      this.#dropped.increment();
    });
    server.on('idleConnectionClosed', () => {
      this.#idleClosed.increment();
    });
    const connections = 'plant_store_http_open_connections';
    const most = 'plant_store_http_max_connections';
    this.#readings = [
      new Reading('gauge', connections, 'Open connections of the public port.', () => open),
      new Reading('gauge', most, 'Maximum number of open connections of the public port.', () => server.maxConnections),
      new Reading('gauge', 'plant_store_queued_writes', 'Pending writes.', () => store.queuedWrites),
    ];
  }

  /** Counts a request that node:http rejected. */
  countRejected(): void {
    this.#rejected.increment();
  }

  /** All metrics of the service. */
  get all(): readonly Metric[] {
    const ofRequests = [this.#requests, this.#durations, this.#errors, this.#incomplete, this.#rejected];
    const ofStorage = [this.#commitWrites, this.#commitDurations, this.#storageErrors];
    return [...ofRequests, this.#dropped, this.#idleClosed, ...ofStorage, ...this.#readings];
  }

  /** Stops collecting metrics. */
  close(): void {
    unsubscribe('plant-store:request', this.#onRequest);
    unsubscribe('plant-store:commit', this.#onCommit);
  }

  readonly #onRequest = (message: unknown): void => {
    const { operation = 'none', status, error, user, durationMs, isComplete } = message as RequestMessage;
    this.#requests.increment({ operation, status: String(status) });
    this.#durations.observe(durationMs / 1000, { operation });
    if (error !== undefined) this.#errors.increment({ code: error });
    if (!isComplete) this.#incomplete.increment();
    // If there is no user, the error is from authentication: the tokens file has failed, not the storage.
    if (operation === 'getPlants' && user !== undefined && storageErrors.has(error)) {
      this.#storageErrors.increment({ operation: 'list' });
    }
  };

  readonly #onCommit = (message: unknown): void => {
    const { writes, durationMs, error } = message as CommitMessage;
    this.#commitWrites.observe(writes);
    this.#commitDurations.observe(durationMs / 1000);
    if (storageErrors.has(error)) this.#storageErrors.increment({ operation: 'commit' });
  };
}
