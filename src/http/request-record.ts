import type { Caller } from '../model/caller.ts';
import { requestChannel, startTime } from '../model/diagnostics.ts';
import type { RequestMessage } from '../model/diagnostics.ts';
import type { Answer, Sent } from './answer.ts';
import { clientOf, traceIdOf } from './request-identity.ts';
import type { ServiceRequest } from './service-request.ts';

/** The properties of a request message that describe the route. */
export type RouteFacts = Pick<RequestMessage, 'path' | 'operation'>;

/** Collects the data for a request's message on the `plant-store:request` channel. */
export class RequestRecord {
  /** The caller; `undefined` until it is known. */
  caller: Caller | undefined;
  readonly #request: ServiceRequest;
  readonly #start: number;
  readonly #client: string | undefined;

  private constructor(request: ServiceRequest, start: number, trustedProxies: number) {
    this.#request = request;
    this.#start = start;
    // The address is read at the start, because a closed connection does not have an address.
    this.#client = clientOf(request, trustedProxies);
  }

  /** Begins the record of a request. Returns `undefined` if the channel has no subscribers. */
  static begin(request: ServiceRequest, trustedProxies: number): RequestRecord | undefined {
    const start = startTime(requestChannel);
    return start === undefined ? undefined : new RequestRecord(request, start, trustedProxies);
  }

  /** Publishes the message of the request. */
  publish({ status, error }: Answer, { isComplete, bytes }: Sent, { path, operation }: RouteFacts): void {
    const request = this.#request;
    requestChannel.publish({
      requestId: request.id,
      traceId: traceIdOf(request),
      client: this.#client,
      user: this.caller?.user,
      tokenId: this.caller?.tokenId,
      method: request.method,
      path,
      operation,
      status,
      error,
      durationMs: performance.now() - this.#start,
      bytes,
      isComplete,
    });
  }
}
