import { parentPort, workerData } from 'node:worker_threads';
import { identifyFile } from '../file.ts';
import { SqliteStorage } from '../sqlite-storage.ts';
import { fromBatch, toErrorData } from './messages.ts';
import type { ThreadRequest, ThreadResponse, WorkerSettings } from './messages.ts';

/**
 * The program of the worker thread of a `CommitThread`. It commits batches with a SqliteStorage of its own, one batch at
 * a time, in the order in which they arrive. An error before the first batch ends the thread.
 */
const { path, identity, busyTimeoutMs } = workerData as WorkerSettings;
// The main thread reads the file with this identity. A SqliteStorage would create a missing file. It cannot initialize
// an emptied one, because the connection of the main thread keeps a shared lock.
if (identifyFile(path) !== identity) throw new Error(`${path} was replaced by another file`);
const storage = new SqliteStorage(path, { busyTimeoutMs });

let last: Promise<unknown> = Promise.resolve();

parentPort?.on('message', (request: ThreadRequest) => {
  if (request === 'close') {
    // A commit that waits for a lock is rejected.
    const closed = storage.close();
    last = Promise.all([last, closed]).then(() => parentPort?.close());
    return;
  }
  last = last.then(async () => {
    const response: ThreadResponse = await storage.commit(fromBatch(request)).catch(toErrorData);
    parentPort?.postMessage(response);
  });
});
