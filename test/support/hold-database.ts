import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HasAfter } from './temporary-folder.ts';

/** Runs in another thread, because a wait for a lock blocks the thread. */
const program = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: { path, sql, forMs } } = require('node:worker_threads');
  const database = new DatabaseSync(path);
  database.exec(sql);
  parentPort.postMessage('holding');
  setTimeout(() => database.close(), forMs);`;

/** Runs a statement on another connection, which is closed after `forMs` milliseconds. Until then it keeps its locks. */
export async function holdDatabase(t: HasAfter, path: string, sql: string, forMs: number): Promise<void> {
  const worker = new Worker(program, { eval: true, workerData: { path, sql, forMs } });
  t.after(async () => {
    await worker.terminate();
  });
  await once(worker, 'message');
}
