import { randomBytes } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import type { TracingChannel } from 'node:diagnostics_channel';
import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { ServiceRequest } from './exchange.ts';
import type { RequestMessage } from './options.ts';

export const requestChannel: TracingChannel<unknown, RequestMessage> = tracingChannel('plant-store:request');

/** Ids that no log format has to escape. */
const usableId = /^[!#-[\]-~]{1,128}$/;

/** Version 00 has four fields; later versions may have more (W3C Trace Context §3.2). */
const traceparent = /^(?!ff|00.{53}-)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** Some gateways add the port, and put an IPv6 address in brackets (RFC 7239 §6). */
const addressWithPort = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/;

/** Distinguishes the ids that this process creates from those of other processes. */
const ownPrefix = randomBytes(9).toString('base64url');
let ownIds = 0;

export function requestIdOf(request: ServiceRequest): string {
  return headerMatching(request, 'x-request-id', usableId) ?? `${ownPrefix}-${(++ownIds).toString(36)}`;
}

function headerMatching(request: ServiceRequest, name: string, pattern: RegExp): string | undefined {
  const value = request.header(name);
  return value !== undefined && pattern.test(value) ? value : undefined;
}

/**
 * Counts from the right, because clients can forge the entries on the left. A socket that accepts IPv6 too reports an
 * IPv4 address as an IPv4-mapped one (RFC 4291 §2.5.5.2).
 */
function clientOf(request: ServiceRequest, trustedProxies: number): string | undefined {
  const forwarded = trustedProxies === 0 ? undefined : request.header('x-forwarded-for');
  const entry = forwarded?.split(',').at(-trustedProxies)?.trim() ?? '';
  const [, inBrackets, beforePort] = addressWithPort.exec(entry) ?? [];
  const address = inBrackets ?? beforePort ?? entry;
  return (isIP(address) === 0 ? request.peerAddress : address)?.replace(/^::ffff:(?=[\d.]+$)/i, '');
}

type Outcome = Pick<RequestMessage, 'user' | 'tokenId' | 'status' | 'code' | 'isComplete'>;

/** `tracePromise` would end the trace when the response is known, not when it has been sent. */
export class RequestTrace {
  readonly #startMs = performance.now();
  readonly #message: RequestMessage;

  constructor(
    request: ServiceRequest,
    route: Pick<RequestMessage, 'requestId' | 'path' | 'unmatchedPath' | 'operation'>,
    trustedProxies: number,
  ) {
    this.#message = {
      ...route,
      traceparent: headerMatching(request, 'traceparent', traceparent),
      client: clientOf(request, trustedProxies),
      method: request.method,
      user: undefined,
      tokenId: undefined,
      status: 0,
      code: undefined,
      isComplete: false,
      durationMs: 0,
    };
  }

  /** Publishes the start of the request, and runs `work` in the async context that subscribers have set. */
  run<T>(work: () => T): T {
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
