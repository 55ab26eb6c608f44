import { parentPort, workerData } from 'node:worker_threads';
import { isSameFile, lostFile } from '../file.ts';
import { SqliteStorage } from '../sqlite-storage.ts';
import { fromBatch, toErrorData } from './messages.ts';
import type { ThreadRequest, ThreadResponse, WorkerSettings } from './messages.ts';

/**
 * The program that a `CommitThread` runs in its worker thread. The worker thread creates its own SqliteStorage and
 * commits batches one at a time, in order of arrival. If the file cannot be opened, the thread ends with the error.
 */
const { path, identity, busyTimeoutMs } = workerData as WorkerSettings;
// The file must be the one that the main thread reads. Without this check, SqliteStorage would create a missing file. A
// file that was truncated to zero bytes does not need a check, because SqliteStorage cannot initialize the file while
// the main thread's connection holds a shared lock.
if (!isSameFile(path, identity)) throw lostFile(path);
const storage = new SqliteStorage(path, { busyTimeoutMs });
// The file might have been replaced before SqliteStorage opened it.
if (!isSameFile(path, identity)) throw lostFile(path);

let last: Promise<unknown> = Promise.resolve();

parentPort?.on('message', (request: ThreadRequest) => {
  if (request === 'close') {
    // Closing the storage rejects a commit that is waiting for a lock.
    const closed = storage.close();
    // The thread ends when the port no longer keeps the thread running. Deno does not have `parentPort.close`.
    last = Promise.all([last, closed]).then(() => parentPort?.unref());
    return;
  }
  last = last.then(async () => {
    const response: ThreadResponse = await storage.commit(fromBatch(request)).catch(toErrorData);
    parentPort?.postMessage(response);
  });
});
