import type { ErrorCode } from '../core/model/errors.ts';

/**
 * The message on the channels of `tracingChannel('plant-store:request')`. The service traces each request from its
 * arrival until the response has been sent or the client has disconnected, except requests that node:http rejects. The
 * message contains no tokens, query strings or bodies, but an `error` of the database can contain parts of a plant. The
 * members from `user` on are set when the request has ended.
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
  /** The size of the response in bytes, including the header; `undefined` if the web server does not count them. */
  readonly bytes: number | undefined;
  /** `false` if the client disconnected or an error ended the response early. The status is the one that was sent. */
  readonly isComplete: boolean;
}
