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
 * The message of the channel `plant-store:create`. A PlantStore publishes it when a create has settled. No message is
 * published for a create with an invalid user or plant. The duration includes the wait for the commit.
 */
export interface CreateMessage extends DiagnosticOutcome {
  /** The user of the new plant. */
  readonly user: string;
  /** The id of the new plant. */
  readonly id: PlantId;
}

/**
 * The message of the channel `plant-store:delete`. A PlantStore publishes it when a delete has settled. No message is
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
 * The message of the channel `plant-store:commit`. A PlantStore publishes it when the storage adapter has settled a
 * commit. The duration does not include the time that the writes waited for the commit to begin.
 */
export interface CommitMessage extends DiagnosticOutcome {
  /** The number of writes in the batch. */
  readonly writes: number;
}

/**
 * The message of the channel `plant-store:request`. The service publishes it when the status and the headers of a
 * response are known, before anything is sent. The duration begins when the request header has arrived and all earlier
 * requests on the connection are finished. It includes authentication, the arrival of the body and the first page of a
 * list, but not the rest of a list and not the sending of the response.
 *
 * No message is published for a request that is refused before it reaches the service, such as a malformed request.
 */
export interface RequestMessage {
  /** The method, such as `GET`. */
  readonly method: string;
  /** The path template in the OpenAPI document, such as `/plants/{id}`; empty if no route matches. */
  readonly path: string;
  /** The operationId in the OpenAPI document; `undefined` for OPTIONS, and if no operation matches. */
  readonly operation: string | undefined;
  /** The HTTP status. */
  readonly status: number;
  /** The code of the error; `undefined` if there was none. */
  readonly error: ErrorCode | HttpErrorCode | undefined;
  /** The user; `undefined` if the request was not authenticated. */
  readonly user: string | undefined;
  /** The duration in milliseconds. */
  readonly durationMs: number;
}

/** A channel of node:diagnostics_channel with typed messages. */
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
 * Publishes a message when `work` has settled. A handler that is added to `work` after this call runs after the message
 * is published. `describe` builds the message from the outcome and the result of `work`. If `work` has rejected, the
 * result is `undefined`.
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
