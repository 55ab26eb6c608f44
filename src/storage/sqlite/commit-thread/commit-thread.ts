import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { PlantStoreError } from '../../../core/model/errors.ts';
import type { Write } from '../../../core/storage-adapter.ts';
import { fromFailure } from './messages.ts';
import type { ThreadRequest, ThreadResponse, WorkerSettings } from './messages.ts';

type PendingRequest = Pick<PromiseWithResolvers<boolean[]>, 'resolve' | 'reject'>;

/**
 * Commits batches in a worker thread with its own connection to the file. If the thread ends unexpectedly, its pending
 * commits are rejected, and the next commit starts a new thread. An idle thread does not keep the process running.
 */
export class CommitThread {
  readonly #settings: WorkerSettings;
  #worker: Worker | undefined;
  /** The worker thread responds to requests in the order in which they were sent. */
  readonly #pending: PendingRequest[] = [];

  /** @throws {Error} if the thread's file is missing, or if threads are not permitted. */
  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.#worker = this.#start();
  }

  /** Rejects with `storage_unavailable` if the thread cannot open the file or ends during the commit. */
  commit(writes: readonly Write[]): Promise<boolean[]> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      this.#send(this.#worker, writes, { resolve, reject });
    });
  }

  /** Closes the worker thread's connection and ends the thread. Pending commits settle first. */
  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    await new Promise<unknown>((resolve) => {
      // The exit rejects every pending request, including this one.
      this.#send(worker, 'close', { resolve, reject: resolve });
    });
  }

  #send(worker: Worker, request: ThreadRequest, pending: PendingRequest): void {
    worker.postMessage(request);
    worker.ref();
    this.#pending.push(pending);
  }

  #start(): Worker {
    // `Worker` would report a missing file only later. If this is the TypeScript source, the file is worker.ts.
    const file = new URL('./worker.js', import.meta.url);
    if (/\.m?js$/.test(import.meta.url) && !existsSync(file)) {
      throw new Error(`The commit thread needs the file ${fileURLToPath(file)}`);
    }
    // Some bundlers recognize this expression, and include the file in the bundle (docs/embedding.md).
    const worker = new Worker(new URL('./worker.js', import.meta.url), {
      name: 'plant-store commits',
      workerData: this.#settings,
      // Node.js 22 warns in each thread that node:sqlite is experimental. One warning, in the main thread, is enough.
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    });
    let cause: unknown;
    worker.on('message', (response: ThreadResponse) => {
      const request = this.#pending.shift();
      if (this.#pending.length === 0) worker.unref();
      if (Array.isArray(response)) request?.resolve(response);
      else request?.reject(fromFailure(response));
    });
    worker.on('error', (error) => {
      cause = error;
    });
    // Pending commits are rejected only after the thread has exited, because until then they could still take effect.
    worker.on('exit', (code) => {
      this.#worker = undefined;
      cause ??= new Error(`The thread that commits exited with code ${code}`);
      for (const { reject } of this.#pending.splice(0)) {
        reject(new PlantStoreError('storage_unavailable', undefined, { cause }));
      }
    });
    worker.unref();
    return worker;
  }
}
