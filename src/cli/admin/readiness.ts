import { setTimeout as sleep } from 'node:timers/promises';
import { asStorageError } from '../../core/model/errors.ts';
import type { PlantStoreError } from '../../core/model/errors.ts';
import type { StorageAdapter } from '../../core/storage-adapter.ts';
import type { Log } from '../output/log.ts';

/** How long a caller waits for a check, and how long its result is reused. */
const checkMs = 1000;

/** Checks on request, at most once a second, whether the storage can be read and written. */
export class Readiness {
  readonly #storage: StorageAdapter;
  readonly #log: Log;
  /** The latest check. At most one check runs at a time, so that checks do not accumulate if the storage hangs. */
  #latest: Promise<boolean> | undefined;
  #hasFailed = false;
  #isStopped = false;

  constructor(storage: StorageAdapter, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  /**
   * Returns whether the storage works, or `undefined` after {@link stop}. The storage counts as not working if it does
   * not respond within a second. Logs the first of several consecutive failures, and the recovery.
   */
  async works(): Promise<boolean | undefined> {
    if (this.#isStopped) return undefined;
    this.#latest ??= this.#check();
    return Promise.race([this.#latest, sleep(checkMs, false, { ref: false })]);
  }

  /** Nothing is logged afterwards. */
  stop(): void {
    this.#isStopped = true;
  }

  async #check(): Promise<boolean> {
    let failure: PlantStoreError | undefined;
    try {
      await this.#storage.list('any user', { after: undefined, limit: 1 });
      // This commit changes nothing, because the user '' never has plants. The contract excludes this user, but the
      // adapters of this package accept it. Unlike `list`, it fails on a read-only file and without write permission.
      // It bypasses the store, so it can overlap a commit of the store, but not another check.
      await this.#storage.commit([{ kind: 'delete', user: '', id: 0n }]);
    } catch (error) {
      failure = asStorageError(error);
    }
    setTimeout(() => (this.#latest = undefined), checkMs).unref();
    if (!this.#isStopped) {
      if (failure === undefined && this.#hasFailed) this.#log.info('The storage works again.');
      if (failure !== undefined && !this.#hasFailed) this.#log.error('The storage does not work', failure);
    }
    this.#hasFailed = failure !== undefined;
    return !this.#hasFailed;
  }
}
