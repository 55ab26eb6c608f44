import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isPlantStoreError, PlantStoreError } from '../../../core/model/errors.ts';
import type { Write } from '../../../core/storage-adapter.ts';
import type { Failure, ThreadRequest, ThreadResponse, ThreadSettings } from './worker.ts';

type PendingRequest = Pick<PromiseWithResolvers<boolean[]>, 'resolve' | 'reject'>;

/**
 * Commits batches in a worker thread with its own connection to the file. If the thread ends unexpectedly, its pending
 * commits are rejected, and the next commit starts a new thread. An idle thread does not keep the process running.
 */
export class CommitThread {
  readonly #settings: ThreadSettings;
  #worker: Worker | undefined;
  /** The worker thread responds to requests in the order in which they were sent. */
  readonly #pending: PendingRequest[] = [];

  /** Throws an error if the thread's file is missing, or if the process may not start a thread. */
  constructor(settings: ThreadSettings) {
    this.#settings = settings;
    this.#worker = this.#start();
  }

  /** Rejects if the commit fails, or if the thread cannot run, cannot open the file, or ends during the commit. */
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
    const worker = new Worker(workerFile(), {
      name: 'plant-store commits',
      workerData: this.#settings,
      // With the process's flags, the thread would run the modules of `--import`, which can open this storage.
      execArgv: [],
      // Node.js 22 warns in each thread that node:sqlite is experimental. One warning, in the main thread, is enough.
      env: { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' },
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

/** Returns the file of the thread, which has the extension of this module. */
function workerFile(): URL {
  // `import.meta.url` is undefined in CommonJS bundles. If the file name were a literal, webpack and ncc would copy the
  // file without its imports.
  const module = import.meta.url as string | undefined;
  const file = URL.parse(`worker${extname(module ?? '')}`, module);
  // `Worker` would report a missing file only in an event.
  if (file !== null && existsSync(file)) return file;
  throw new Error(
    `The commit thread is missing at ${file?.pathname ?? 'an unknown path, because the bundle is not an ES module'}. ` +
      'Add worker.js of Plant Store to the bundle as an entry point, or declare plant-store as external.',
  );
}

function fromFailure({ error, properties }: Failure): Error {
  Object.assign(error, properties);
  return isPlantStoreError(error) ? new PlantStoreError(error.code, error.message, { cause: error.cause }) : error;
}
