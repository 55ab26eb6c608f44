import { parentPort, workerData } from 'node:worker_threads';
import type { Write } from '../../../core/storage-adapter.ts';
import { OpenFiles, requireInPlace, Writer } from '../writer.ts';
import type { FileSet } from '../writer.ts';

export interface ThreadSettings {
  readonly files: FileSet;
  readonly busyTimeoutMs: number;
}

export type ThreadRequest = readonly Write[] | 'close';

export type ThreadResponse = boolean[] | Failure;

/** An error and its own properties, because a structured clone loses an error's class and codes. */
export interface Failure {
  readonly error: Error;
  readonly properties: Readonly<Record<string, unknown>>;
}

const port = parentPort;
if (port === null) throw new Error('This file is the commit thread of Plant Store, not a program.');

const { files: expected, busyTimeoutMs } = workerData as ThreadSettings;

// The files must be those that the main thread reads. The first check is needed, because `OpenFiles` would create a
// missing file.
requireInPlace(expected);
const files = new OpenFiles(expected.path, busyTimeoutMs);
// Another program can replace them while they are opened.
requireInPlace(expected);
const writer = new Writer(files, busyTimeoutMs);

let last: Promise<unknown> = Promise.resolve();

port.on('message', (request: ThreadRequest) => {
  if (request === 'close') {
    writer.close();
    // The thread ends when the port no longer keeps it running. Deno does not have `parentPort.close`.
    last = last.then(() => {
      files.close();
      port.unref();
    });
    return;
  }
  last = last.then(async () => {
    const response: ThreadResponse = await writer.commit(request).catch(toFailure);
    port.postMessage(response);
  });
});

function toFailure(error: Error): Failure {
  return { error, properties: Object.fromEntries(Object.entries(error)) };
}
