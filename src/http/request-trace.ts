import type { RequestMessage } from '../core/model/diagnostics.ts';
import { requestChannel } from '../core/trace.ts';
import { clientOf, traceparentOf } from './request-identity.ts';
import type { ServiceRequest } from './service-request.ts';

/** What the handler knows about a request when it starts. */
type Route = Pick<RequestMessage, 'requestId' | 'path' | 'operation'>;

/** What the handler does not know about a request until the request ends. */
type Outcome = Pick<RequestMessage, 'user' | 'tokenId' | 'status' | 'code' | 'bytes' | 'isComplete'>;

const pending: Outcome = {
  user: undefined,
  tokenId: undefined,
  status: 0,
  code: undefined,
  bytes: undefined,
  isComplete: false,
};

/**
 * Publishes the trace of a request. `tracePromise` is not suitable, because it would end the trace when the answer is
 * known. The trace must end later, when the response has been sent.
 */
export class RequestTrace {
  readonly #startMs = performance.now();
  readonly #message: RequestMessage;

  constructor(request: ServiceRequest, route: Route, trustedProxies: number) {
    this.#message = {
      ...route,
      traceparent: traceparentOf(request),
      client: clientOf(request, trustedProxies),
      method: request.method,
      ...pending,
      durationMs: 0,
    };
  }

  /** Publishes the start of the request, and runs `work` in the async context that subscribers have set. */
  run<Result>(work: () => Result): Result {
    const result = requestChannel.start.runStores(this.#message, work);
    requestChannel.end.publish(this.#message);
    return result;
  }

  fail(error: unknown): void {
    requestChannel.error.publish(Object.assign(this.#message, { error }));
  }

  end(outcome: Outcome): void {
    const message = Object.assign(this.#message, outcome, { durationMs: performance.now() - this.#startMs });
    requestChannel.asyncStart.publish(message);
    requestChannel.asyncEnd.publish(message);
  }
}
