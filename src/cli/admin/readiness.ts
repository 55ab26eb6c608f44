import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { asStorageError } from '../../core/model/errors.ts';
import type { StorageAdapter } from '../../core/storage-adapter.ts';
import { describeError, printable } from '../print.ts';
import type { Log } from '../output/log.ts';

/** How long a caller waits for a check, and how long its result is reused. */
const checkMs = 1000;

/** Checks on request, at most once a second, whether the storage can be read and written. */
export class Readiness {
  readonly #storage: StorageAdapter;
  readonly #log: Log;
  /** No plant belongs to this user, so the commit of a check changes nothing. */
  readonly #user = randomUUID();
  /** The latest check. At most one check runs at a time, so that checks do not accumulate if the storage hangs. */
  #latest: Promise<string> | undefined;
  #problem = '';
  /** Why the latest check failed; `undefined` if it succeeded. */
  failure: unknown;
  /** While the server starts or stops, problems of the storage are not logged. */
  isStarting = true;
  isStopping = false;

  constructor(storage: StorageAdapter, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  /**
   * Returns why the storage does not work, on one line, or '' if it works. The storage must respond within a second.
   * Logs the first of several consecutive failures, and the recovery.
   */
  async storageProblem(): Promise<string> {
    this.#latest ??= this.#check();
    return Promise.race([this.#latest, sleep(checkMs, 'It did not respond within a second.', { ref: false })]);
  }

  get #logs(): boolean {
    return !this.isStarting && !this.isStopping;
  }

  async #check(): Promise<string> {
    const before = this.#problem;
    this.#problem = '';
    this.failure = undefined;
    try {
      await this.#storage.list(this.#user, { after: undefined, limit: 1 });
      // Unlike `list`, a commit fails if the file is read-only or if the write permission is missing. This commit can
      // overlap a commit of the store, but not another check.
      await this.#storage.commit([{ kind: 'delete', user: this.#user, id: 0n }]);
      if (before !== '' && this.#logs) this.#log.info('The storage works again.');
    } catch (error) {
      const failure = asStorageError(error);
      this.failure = failure;
      this.#problem = printable(describeError(failure));
      if (before === '' && this.#logs) this.#log.error('The storage does not work', failure);
    }
    setTimeout(() => (this.#latest = undefined), checkMs).unref();
    return this.#problem;
  }
}
