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
