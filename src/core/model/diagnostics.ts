import { channel } from 'node:diagnostics_channel';
import { PlantStoreError } from './errors.ts';
import type { ErrorCode, HttpErrorCode } from './errors.ts';
import type { PlantId } from './plant.ts';

/** The outcome of a create, a delete or a commit. */
export interface DiagnosticOutcome {
  /** The code of the error; `undefined` if there was none. */
  readonly error: ErrorCode | undefined;
  /** The duration in milliseconds. */
  readonly durationMs: number;
}

/**
 * A message on the `plant-store:create` channel. A PlantStore publishes it when a create has settled. No message is
 * published for a create with an invalid user or plant. The duration includes the wait for the commit.
 */
export interface CreateMessage extends DiagnosticOutcome {
  /** The user of the new plant. */
  readonly user: string;
  /** The id of the new plant. */
  readonly id: PlantId;
}

/**
 * A message on the `plant-store:delete` channel. A PlantStore publishes it when a delete has settled. No message is
 * published for a delete with an invalid user or id. The duration includes the wait for the commit.
 */
export interface DeleteMessage extends DiagnosticOutcome {
  /** The user of the plant. */
  readonly user: string;
  /** The id of the plant. */
  readonly id: PlantId;
  /** Whether the plant existed and was deleted; `false` if there was an error. */
  readonly existed: boolean;
}

/**
 * A message on the `plant-store:commit` channel. A PlantStore publishes it when the storage adapter has settled a
 * commit. The duration does not include the time for which the writes waited before the commit.
 */
export interface CommitMessage extends DiagnosticOutcome {
  /** The number of writes in the batch. */
  readonly writes: number;
}

/**
 * A message on the `plant-store:request` channel. The service publishes it when it has sent the response to a request,
 * or when the client has disconnected. The message contains no tokens, query strings or bodies.
 *
 * No message is published for a request that node:http itself rejects, such as a request with an invalid header.
 */
export interface RequestMessage {
  /**
   * The value of the response's `X-Request-Id` header. If the request's `X-Request-Id` header consists of 1 to 128
   * visible ASCII characters other than `"` and `\`, its value is used. Otherwise, the value is a new unique id.
   */
  readonly requestId: string;
  /** The trace-id of the request's `traceparent` header (W3C Trace Context); `undefined` if there is no valid one. */
  readonly traceId: string | undefined;
  /** The IP address of the client (see the `trustedProxies` option); `undefined` if it is unknown. */
  readonly client: string | undefined;
  /** The method, such as `GET`. */
  readonly method: string;
  /** The path template in the OpenAPI document, such as `/plants/{id}`; empty if no route matches. */
  readonly path: string;
  /** The operationId in the OpenAPI document; `undefined` for OPTIONS, and if no operation matches. */
  readonly operation: string | undefined;
  /** The HTTP status, even if the client disconnected before the service could send it. */
  readonly status: number;
  /** The code of the error; `undefined` if there was none. */
  readonly error: ErrorCode | HttpErrorCode | undefined;
  /** The user; `undefined` if the request was not authenticated. */
  readonly user: string | undefined;
  /** The `tokenId` that `authenticate` returned; `undefined` if there was none. */
  readonly tokenId: string | undefined;
  /**
   * The duration in milliseconds. It starts when the request header has arrived and all earlier requests on the
   * connection have ended. It ends when the operating system has accepted the last byte of the response.
   */
  readonly durationMs: number;
  /**
   * The size of the response in bytes, including the header; `undefined` if the web server does not count the bytes.
   */
  readonly bytes: number | undefined;
  /** Whether the whole response was sent. If not, the client disconnected, or an error cut a list short. */
  readonly isComplete: boolean;
}

/** A node:diagnostics_channel channel with typed messages. */
export interface MessageChannel<Message> {
  readonly hasSubscribers: boolean;
  /**
   * Calls the subscribers. If a subscriber throws, Node.js emits `uncaughtException` later, and `publish` still
   * returns.
   */
  publish(message: Message): void;
}

export const createChannel: MessageChannel<CreateMessage> = channel('plant-store:create');
export const deleteChannel: MessageChannel<DeleteMessage> = channel('plant-store:delete');
export const commitChannel: MessageChannel<CommitMessage> = channel('plant-store:commit');
export const requestChannel: MessageChannel<RequestMessage> = channel('plant-store:request');

/**
 * Returns the time from which the duration of a message is measured, or `undefined` if the channel has no subscribers.
 */
export function startTime(to: { readonly hasSubscribers: boolean }): number | undefined {
  return to.hasSubscribers ? performance.now() : undefined;
}

/**
 * Publishes a message when `work` has settled. Handlers that are added to `work` after this call run after the message
 * has been published. `describe` builds the message from the outcome and the result of `work`. If `work` has rejected,
 * the result is `undefined`.
 */
export function publishWhenSettled<Result, Message>(
  to: MessageChannel<Message>,
  start: number,
  work: Promise<Result>,
  describe: (outcome: DiagnosticOutcome, result: Result | undefined) => Message,
): void {
  const publish = (error: ErrorCode | undefined, result?: Result): void => {
    to.publish(describe({ error, durationMs: performance.now() - start }, result));
  };
  work.then(
    (result) => {
      publish(undefined, result);
    },
    (error: unknown) => {
      publish(error instanceof PlantStoreError ? error.code : 'storage_unavailable');
    },
  );
}
