import { tracingChannel } from 'node:diagnostics_channel';
import type { TracingChannel } from 'node:diagnostics_channel';
import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { ErrorCode } from '../core/model/errors.ts';
import { headerMatching } from './exchange.ts';
import type { ServiceRequest } from './exchange.ts';
import type { ResolvedTarget } from './routes.ts';

/**
 * The message on the channels of `tracingChannel('plant-store:request')`. The service traces each request that it
 * handles until the response has been sent or the client has disconnected. Requests that node:http rejects, or that the
 * listener passes to `next`, are not traced. The message contains no tokens, query strings or bodies, but an `error` of
 * the database can contain parts of a plant. The members from `user` on are set when the request has ended.
 */
export interface RequestMessage {
  /** The value of the response's `X-Request-Id` header. */
  readonly requestId: string;
  /** The request's `traceparent` header (W3C Trace Context); `undefined` if it is missing or invalid. */
  readonly traceparent: string | undefined;
  /** The client's IP address (see the `trustedProxies` option); `undefined` if the address is unknown. */
  readonly client: string | undefined;
  /** The HTTP method, such as `GET`. */
  readonly method: string;
  /** The path template in the OpenAPI document, such as `/plants/{id}`; empty if no route matches. */
  readonly path: string;
  /** If no route matches, the first segments of the path, with `…` for long or unusual ones; otherwise `undefined`. */
  readonly unmatchedPath: string | undefined;
  /** The operationId in the OpenAPI document; `undefined` for OPTIONS requests, or if no operation matches. */
  readonly operation: string | undefined;
  /** The error that was reported to `onError`; `undefined` if no error was reported. */
  readonly error?: unknown;
  /** The authenticated user; `undefined` if the request was not authenticated. */
  readonly user: string | undefined;
  /** The `tokenId` that `authenticate` returned, if any. */
  readonly tokenId: string | undefined;
  /** The HTTP status; 0 until the request has ended; 499 if the request failed after its client had disconnected. */
  readonly status: number;
  /** The response's error code, if any; `incomplete` if an error ended the response early, whatever its status. */
  readonly code: ErrorCode | 'incomplete' | undefined;
  /**
   * The milliseconds from the request header, or from the end of the connection's previous response if it is later,
   * to the end of the response.
   */
  readonly durationMs: number;
  /** `false` if the client disconnected or an error ended the response early. */
  readonly isComplete: boolean;
}

/** @internal */
export const requestChannel: TracingChannel<unknown, RequestMessage> = tracingChannel('plant-store:request');

/** Version 00 has four fields; later versions may have more (W3C Trace Context §3.2). */
const traceparent = /^(?!ff|00.{53}-)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** Some gateways add the port, and put an IPv6 address in brackets (RFC 7239 §6). */
const addressWithPort = /^(?:\[(.*)\](?::\d+)?|([\d.]+):\d+)$/;

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

/** Replaces long and unusual segments of a path, because they may be secrets, and omits all after the fourth. */
function redactPath(path: string): string {
  const segments = path.split('/', 5);
  return segments.map((segment) => (/^[\w.-]{0,20}$/.test(segment) ? segment : '…')).join('/');
}

/** @internal `tracePromise` would end the trace when the response is known, not when it has been sent. */
export class RequestTrace {
  readonly #startMs = performance.now();
  readonly #message: RequestMessage;

  constructor(request: ServiceRequest, requestId: string, target: ResolvedTarget, trustedProxies: number) {
    this.#message = {
      requestId,
      traceparent: headerMatching(request, 'traceparent', traceparent),
      client: clientOf(request, trustedProxies),
      method: request.method,
      path: target.route?.path ?? '',
      unmatchedPath: target.route === undefined ? redactPath(target.path) : undefined,
      operation: target.operation?.id,
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

  end(outcome: Pick<RequestMessage, 'user' | 'tokenId' | 'status' | 'code' | 'isComplete'>): void {
    const message = Object.assign(this.#message, outcome, { durationMs: performance.now() - this.#startMs });
    requestChannel.asyncStart.publish(message);
    requestChannel.asyncEnd.publish(message);
  }
}
