import { setTimeout as sleep } from 'node:timers/promises';
import type { StorageAdapter } from '../../../core/storage-adapter.ts';
import { withAdvice } from '../advice.ts';
import { errorSummary } from '../output/error-summary.ts';
import type { Log } from '../output/log.ts';

/** The delay before the first retry. The delay doubles with each retry, up to `maxRetryMs`. */
const firstRetryMs = 1000;
const maxRetryMs = 60_000;
/** How long {@link StorageProbe.works} waits for the storage. */
const timeoutMs = 1000;
/** How long the result of a check is reused. This time must not be longer than `firstRetryMs`. */
const reuseMs = 1000;

/** Checks whether the storage can be read and written. */
export class StorageProbe {
  readonly #storage: StorageAdapter;
  readonly #log: Log;
  /**
   * The latest check, which is kept until `reuseMs` after it ends. At most one check runs at a time. Otherwise, checks
   * would accumulate if the storage hung.
   */
  #latest: Promise<PromiseSettledResult<void>> | undefined;
  /** Whether a failure was logged since the storage last worked. */
  #isReported = false;
  /** Whether {@link start} is checking the storage. */
  #isStarted = false;
  #isStopped = false;

  constructor(storage: StorageAdapter, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  /**
   * Checks the storage. If the storage does not work, retries until it works, and logs the recovery. Also logs each
   * failure, unless `isLogged` is true because a request has failed and its error was logged. Does not detect later
   * failures: call this method again after a failed request.
   */
  async start(isLogged = false): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(retryMs * 2, maxRetryMs)) {
      const result = await this.#check();
      // If the storage is closed during a check, the check fails. This failure is not logged.
      if (this.#isStopped) return;
      if (result.status === 'fulfilled') {
        this.#reportRecovery();
        this.#isStarted = false;
        return;
      }
      this.#isReported = true;
      const reason = withAdvice(errorSummary(result.reason), result.reason);
      if (!isLogged) this.#log.error(`The storage does not work: ${reason} (next try in ${retryMs / 1000} s)`);
      await sleep(retryMs, undefined, { ref: false });
    }
  }

  /**
   * Returns whether the storage works, or `undefined` after {@link stop}. The storage counts as not working if it does
   * not respond within a second. Logs the first of several consecutive failures, and logs the recovery.
   */
  async works(): Promise<boolean | undefined> {
    if (this.#isStopped) return undefined;
    const works = this.#check().then((result) => {
      if (result.status === 'fulfilled') {
        this.#reportRecovery();
        return true;
      }
      if (!this.#isReported && !this.#isStopped) {
        this.#log.error('The health check found that the storage does not work', result.reason);
      }
      this.#isReported = true;
      return false;
    });
    return Promise.race([works, sleep(timeoutMs, false, { ref: false })]);
  }

  /** Stops the probe. Nothing is logged afterwards. */
  stop(): void {
    this.#isStopped = true;
  }

  #reportRecovery(): void {
    if (this.#isReported && !this.#isStopped) this.#log.info('The storage works now.');
    this.#isReported = false;
  }

  #check(): Promise<PromiseSettledResult<void>> {
    this.#latest ??= Promise.allSettled([readAndWrite(this.#storage)]).then(([result]) => {
      setTimeout(() => (this.#latest = undefined), reuseMs).unref();
      return result;
    });
    return this.#latest;
  }
}

/**
 * Creates the table if it does not exist, reads a plant, and commits a write. The write changes nothing, because it
 * deletes a plant of the user '', who never has plants. Unlike a read, the write fails on a read-only file, on a
 * standby server, and without write permission.
 */
async function readAndWrite(storage: StorageAdapter): Promise<void> {
  await storage.list('', { after: undefined, limit: 1 });
  await storage.commit([{ kind: 'delete', user: '', id: 0n }]);
}
