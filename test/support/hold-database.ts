import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HasAfter } from './temporary-folder.ts';

/** Runs in another thread, because waiting for the lock blocks the thread of the test. */
const program = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: { path, sql, forMs } } = require('node:worker_threads');
  const database = new DatabaseSync(path);
  // A connection that tries to enter WAL mode can hold a lock when this one commits.
  database.exec('PRAGMA busy_timeout = 30000');
  database.exec(sql);
  parentPort.postMessage('holding');
  setTimeout(() => {
    if (database.isTransaction) database.exec('COMMIT');
    database.close();
  }, forMs);`;

/**
 * Runs SQL on another connection. The connection keeps its locks for `forMs` milliseconds, and then commits and is
 * closed.
 */
export async function holdDatabase(t: HasAfter, path: string, sql: string, forMs: number): Promise<void> {
  const worker = new Worker(program, { eval: true, workerData: { path, sql, forMs } });
  t.after(() => worker.terminate());
  await once(worker, 'message');
}
