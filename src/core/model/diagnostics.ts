import type { ErrorCode, HttpErrorCode, PlantStoreError } from './errors.ts';

/**
 * The message on the channels of `tracingChannel('plant-store:commit')`. A PlantStore traces each commit of a batch to
 * the storage adapter. The trace does not include the time for which the writes wait before the commit.
 */
export interface CommitMessage {
  /** The number of writes in the batch. */
  readonly writes: number;
  /**
   * For each write of the batch, a function that calls `work` in the async context in which the write was requested, as
   * `AsyncLocalStorage.snapshot()` returns it. With it, the commit can be linked to the operations that share it. Empty
   * if the `start` channel had no subscribers at the time of the write.
   */
  readonly contexts: readonly (<Result>(work: () => Result) => Result)[];
  /** The error; `undefined` if there was none. */
  readonly error?: PlantStoreError;
  /** The duration in milliseconds; 0 until the commit has ended. */
  readonly durationMs: number;
}

/**
 * The message on the channels of `tracingChannel('plant-store:request')`. The service traces each request from its
 * arrival until the response has been sent or the client has disconnected. The message contains no tokens, query
 * strings or bodies.
 *
 * A request that node:http itself rejects is not traced, such as a request with an invalid header.
 */
export interface RequestMessage {
  /**
   * The value of the response's `X-Request-Id` header. If the request's `X-Request-Id` header consists of 1 to 128
   * visible ASCII characters other than `"` and `\`, its value is used. Otherwise, the value is a new unique id.
   */
  readonly requestId: string;
  /**
   * The `traceparent` header of the request (W3C Trace Context): the ids of the client's trace and span; `undefined` if
   * there is no valid one.
   */
  readonly traceparent: string | undefined;
  /** The IP address of the client (see the `trustedProxies` option); `undefined` if it is unknown. */
  readonly client: string | undefined;
  /** The method, such as `GET`. */
  readonly method: string;
  /** The path template in the OpenAPI document, such as `/plants/{id}`; empty if no route matches. */
  readonly path: string;
  /** The operationId in the OpenAPI document; `undefined` for OPTIONS, and if no operation matches. */
  readonly operation: string | undefined;
  /** The error that `onError` received; `undefined` if there was none. */
  readonly error?: unknown;
  /** The user; `undefined` until the request has ended, and if it was not authenticated. */
  readonly user: string | undefined;
  /** The `tokenId` that `authenticate` returned; `undefined` until the request has ended, and if there was none. */
  readonly tokenId: string | undefined;
  /** The HTTP status, even if the client disconnected before the service could send it; 0 until the request has ended. */
  readonly status: number;
  /** The error code of the response; `undefined` until the request has ended, and if there was none. */
  readonly code: ErrorCode | HttpErrorCode | undefined;
  /**
   * The duration in milliseconds; 0 until the request has ended. It starts when the request header has arrived and all
   * earlier requests on the connection have ended. It ends when the operating system has accepted the last byte of the
   * response.
   */
  readonly durationMs: number;
  /**
   * The size of the response in bytes, including the header; `undefined` until the request has ended, and if the web
   * server does not count the bytes.
   */
  readonly bytes: number | undefined;
  /** Whether the whole response was sent. If not, the client disconnected, or an error cut a list short. */
  readonly isComplete: boolean;
}
