import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { HasAfter } from './temporary-folder.ts';

/** What another thread runs, since waiting for a lock stands still. */
const program = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: { path, sql, forMs } } = require('node:worker_threads');
  const database = new DatabaseSync(path);
  database.exec(sql);
  parentPort.postMessage('holding');
  setTimeout(() => database.close(), forMs);`;

/** Resolves when another connection has run the statement; it is closed, and its locks with it, after so many milliseconds. */
export async function holdDatabase(t: HasAfter, path: string, sql: string, forMs: number): Promise<void> {
  const worker = new Worker(program, { eval: true, workerData: { path, sql, forMs } });
  t.after(async () => {
    await worker.terminate();
  });
  await once(worker, 'message');
}
