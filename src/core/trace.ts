import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import type { TracingChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import type { PlantStoreError } from './model/errors.ts';

/** The message on the channels of `tracingChannel('plant-store:commit')`, which trace each batch of a PlantStore. */
export interface CommitMessage {
  /** The number of writes in the batch. */
  readonly writes: number;
  /**
   * One function for each write that was requested while the `start` channel had subscribers. It calls `work` in the
   * async context of that request (`AsyncLocalStorage.snapshot()`), so that a subscriber can link the commit to the
   * request.
   */
  readonly contexts: readonly (<Result>(work: () => Result) => Result)[];
  /** The commit's error; `undefined` if the commit succeeded. */
  readonly error?: PlantStoreError;
  /** The duration of the commit in milliseconds, without the wait before it; 0 until the commit has ended. */
  readonly durationMs: number;
}

const commitChannel: TracingChannel<unknown, CommitMessage> = tracingChannel('plant-store:commit');

/** Bun implements `hasSubscribers` for the channels, but not for the TracingChannel. */
export function isTraced(
  channel: Record<'start' | 'asyncEnd' | 'error', { readonly hasSubscribers: boolean }>,
): boolean {
  return channel.asyncEnd.hasSubscribers || channel.start.hasSubscribers || channel.error.hasSubscribers;
}

export type RequestContext = CommitMessage['contexts'][number];

/** Runs work of several requests in the async context in which this module was loaded: normally that of no request. */
export const runInNeutralContext: RequestContext = AsyncLocalStorage.snapshot();

export function captureContext(): RequestContext | undefined {
  return commitChannel.start.hasSubscribers ? AsyncLocalStorage.snapshot() : undefined;
}

export function traceCommit<Result>(
  batch: readonly { readonly context: RequestContext | undefined }[],
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
