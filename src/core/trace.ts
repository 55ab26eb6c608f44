import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import type { TracingChannel } from 'node:diagnostics_channel';
import type { PlantStoreError } from './model/errors.ts';

/** The message on the channels of `tracingChannel('plant-store:commit')`, which trace each batch of a PlantStore. */
export interface CommitMessage {
  /** The number of writes in the batch. */
  readonly writes: number;
  /**
   * One function for each write that was requested while the `start` channel had subscribers. It calls `work` in the
   * async context of the request (`AsyncLocalStorage.snapshot()`), so that a subscriber can link the commit to it.
   */
  readonly contexts: readonly (<Result>(work: () => Result) => Result)[];
  /** The commit's error; `undefined` if the commit succeeded. */
  readonly error?: PlantStoreError;
  /** The duration of the commit in milliseconds, without the wait before it; 0 until the commit has ended. */
  readonly durationMs: number;
}

const commitChannel: TracingChannel<unknown, CommitMessage> = tracingChannel('plant-store:commit');

/** Bun does not implement `channel.hasSubscribers`. */
export function isTraced<Message extends object>(channel: TracingChannel<unknown, Message>): boolean {
  const { start, end, asyncStart, asyncEnd, error } = channel;
  return (
    asyncEnd.hasSubscribers ||
    start.hasSubscribers ||
    error.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers
  );
}

/** Calls a function in the async context in which a write was requested. */
export type CallerContext = CommitMessage['contexts'][number];

/** Captures the current async context. Returns `undefined` if the `start` channel has no subscribers. */
export function callerContext(): CallerContext | undefined {
  return commitChannel.start.hasSubscribers ? AsyncLocalStorage.snapshot() : undefined;
}

export function traceCommit<Result>(
  batch: readonly { readonly context: CallerContext | undefined }[],
  commit: () => Promise<Result>,
): Promise<Result> {
  if (!isTraced(commitChannel)) return commit();
  const contexts = batch.flatMap(({ context }) => context ?? []);
  const message = { writes: batch.length, contexts, durationMs: 0 };
  const startMs = performance.now();
  const work = (): Promise<Result> =>
    commit().finally(() => {
      message.durationMs = performance.now() - startMs;
    });
  return commitChannel.tracePromise(work, message);
}
