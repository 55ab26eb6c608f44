import { parentPort, workerData } from 'node:worker_threads';
import { OpenFiles, requireInPlace } from '../open-files.ts';
import { Writer } from '../writer.ts';
import { toFailure } from './messages.ts';
import type { ThreadData, ThreadRequest, ThreadResponse } from './messages.ts';

const port = parentPort;
if (port === null) throw new Error('This file is the commit thread of Plant Store, not a program.');

const { files: expected, busyTimeoutMs, isRunning } = workerData as ThreadData;
Atomics.store(isRunning, 0, 1);
Atomics.notify(isRunning, 0);

// The files must be those that the main thread reads. `OpenFiles` would create a missing file.
requireInPlace(expected);
const files = new OpenFiles(expected.path, busyTimeoutMs);
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
