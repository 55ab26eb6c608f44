import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { adviceFor } from './advice.ts';
import { errorSummary } from './output/error-summary.ts';
import type { Log } from './output/log.ts';

/** The delay before the first retry. The delay doubles with each retry, up to `maxRetryMs`. */
const firstRetryMs = 1000;
const maxRetryMs = 60_000;

/** A check of the storage that runs in the background. */
export interface StorageProbe {
  /** Whether the probe is waiting for a response from the storage, rather than for the next retry. */
  readonly isUnderWay: boolean;
  /** Stops the probe. Nothing is logged afterwards. */
  stop(): void;
}

/**
 * Checks immediately whether the storage can be read and written. If not, logs the reason and retries until the check
 * succeeds. Does not detect later failures; they are logged when requests fail.
 */
export function probeStorage(storage: StorageAdapter, log: Log): StorageProbe {
  let isStopped = false;
  let isUnderWay = false;
  let retry: NodeJS.Timeout | undefined;

  const attempt = async (retryMs: number): Promise<void> => {
    isUnderWay = true;
    try {
      await readAndWrite(storage);
      if (!isStopped && retryMs > firstRetryMs) log.info('The storage works now.');
    } catch (error) {
      // A running probe fails when the storage is closed. This failure is not logged.
      if (isStopped) return;
      const advice = adviceFor(error);
      const reason = advice === undefined ? errorSummary(error) : `${errorSummary(error)}. ${advice}`;
      log.error(`The storage does not work: ${reason} (next try in ${retryMs / 1000} s)`);
      retry = setTimeout(() => void attempt(Math.min(retryMs * 2, maxRetryMs)), retryMs).unref();
    } finally {
      isUnderWay = false;
    }
  };
  void attempt(firstRetryMs);

  return {
    get isUnderWay() {
      return isUnderWay;
    },
    stop: () => {
      isStopped = true;
      clearTimeout(retry);
    },
  };
}

/**
 * Creates the table if it is missing, reads a plant, and commits a write. The write changes nothing: it deletes a plant
 * of the user '', who never has plants. Unlike a read, it fails on a read-only file, on a standby server, and without
 * write permission.
 */
export async function readAndWrite(storage: StorageAdapter): Promise<void> {
  await storage.scan({ after: undefined, limit: 1 });
  await storage.commit([{ kind: 'delete', user: '', id: 0n }]);
}
