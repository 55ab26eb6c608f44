import type { ErrorCode, PlantStoreError } from './errors.ts';

/**
 * The message on the channels of `tracingChannel('plant-store:commit')`. A PlantStore traces each batch that it commits
 * to the storage adapter. The trace does not include the time that the writes spend waiting before the commit.
 */
export interface CommitMessage {
  /** The number of writes in the batch. */
  readonly writes: number;
  /**
   * One function for each write in the batch, as returned by `AsyncLocalStorage.snapshot()`. Each function calls `work`
   * in the async context in which its write was requested. A subscriber can use these functions to link the commit to
   * the operations that requested the writes. A write has a function only if the `start` channel had subscribers when
   * the write was requested.
   */
  readonly contexts: readonly (<Result>(work: () => Result) => Result)[];
  /** The commit's error; `undefined` if the commit succeeded. */
  readonly error?: PlantStoreError;
  /** The duration in milliseconds; 0 until the commit has ended. */
  readonly durationMs: number;
}

/**
 * The message on the channels of `tracingChannel('plant-store:request')`. The service traces each request from its
 * arrival until the response has been sent or the client has disconnected. The message contains no tokens, query
 * strings or bodies.
 *
 * Requests that node:http itself rejects, such as requests with an invalid header, are not traced.
 */
export interface RequestMessage {
  /**
   * The value of the response's `X-Request-Id` header. If the request has a valid `X-Request-Id` header (1 to 128
   * visible ASCII characters other than `"` and `\`), its value is used; otherwise, the service generates a unique id.
   */
  readonly requestId: string;
  /**
   * The request's `traceparent` header (W3C Trace Context), which contains the ids of the client's trace and span;
   * `undefined` if the header is missing or invalid.
   */
  readonly traceparent: string | undefined;
  /** The client's IP address (see the `trustedProxies` option); `undefined` if the address is unknown. */
  readonly client: string | undefined;
  /** The HTTP method, such as `GET`. */
  readonly method: string;
  /** The path template in the OpenAPI document, such as `/plants/{id}`; empty if no route matches. */
  readonly path: string;
  /**
   * If no route matches, the first segments of the requested path, to find a wrong prefix; otherwise `undefined`. Each
   * segment that could be a secret is replaced by `…`.
   */
  readonly unmatchedPath: string | undefined;
  /** The operationId in the OpenAPI document; `undefined` for OPTIONS requests, or if no operation matches. */
  readonly operation: string | undefined;
  /** The error that was reported to `onError`; `undefined` if no error was reported. */
  readonly error?: unknown;
  /** The authenticated user; `undefined` until the request has ended, or if the request was not authenticated. */
  readonly user: string | undefined;
  /** The `tokenId` that `authenticate` returned, if any; `undefined` until the request has ended. */
  readonly tokenId: string | undefined;
  /**
   * The HTTP status; 0 until the request has ended. The status is set even if the client disconnected before the
   * response was sent; it is 499 if the client disconnected before the response was known, such as during an upload.
   */
  readonly status: number;
  /** The response's error code, if any; `undefined` until the request has ended. */
  readonly code: ErrorCode | undefined;
  /**
   * The duration in milliseconds; 0 until the request has ended. Timing starts when the request header has arrived and
   * all earlier requests on the connection have ended. Timing ends when the operating system has accepted the last byte
   * of the response.
   */
  readonly durationMs: number;
  /**
   * The size of the response in bytes, including the header; `undefined` until the request has ended, or if the web
   * server does not count the bytes.
   */
  readonly bytes: number | undefined;
  /** Whether the whole response was sent. `false` if the client disconnected, or if an error cut a list short. */
  readonly isComplete: boolean;
}
