import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const folder = 'src/storage/sqlite/commit-thread';
const commitThread = 'test/storage/sqlite/commit-thread/commit-thread.test.ts';
const processTest = 'test/storage/sqlite/commit-thread/process.test.ts';
const reopen = 'test/storage/sqlite/reopen.test.ts';

/** `src/storage/sqlite/commit-thread`, and its use by the adapter. */
export const commitThreadFaults: readonly Fault[] = [
  ...faultsIn(
    `${folder}/commit-thread.ts`,
    [commitThread],
    [
      {
        name: 'commit thread: a commit does not keep the process running',
        find: 'worker.ref();',
        replace: '',
        tests: [processTest],
      },
      {
        name: 'commit thread: an idle thread keeps the process running',
        find: 'if (this.#pending.length === 0) worker.unref();',
        replace: '',
        tests: [processTest],
      },
      {
        name: 'commit thread: the thread is unreferenced while commits are pending',
        find: 'if (this.#pending.length === 0) worker.unref();',
        replace: 'worker.unref();',
        tests: [processTest],
      },
      {
        name: 'commit thread: a thread that ended is not replaced',
        find: 'this.#worker = undefined;',
        replace: '',
      },
      {
        name: 'commit thread: a thread that ended leaves its commits pending',
        find: 'this.#pending.splice(0)',
        replace: 'this.#pending.splice(1)',
      },
      {
        name: 'commit thread: an error in the thread ends the process',
        find: `worker.on('error', (error) => {`,
        replace: `worker.on('messageerror', (error) => {`,
      },
      {
        name: 'commit thread: the cause of a failed start is lost',
        find: 'cause = error;',
        replace: 'void error;',
      },
      {
        name: 'commit thread: responses are assigned to the newest commits',
        find: 'this.#pending.shift()',
        replace: 'this.#pending.pop()',
      },
      {
        name: 'commit thread: each commit starts a thread',
        find: 'this.#worker ??= this.#start();',
        replace: 'this.#worker = this.#start();',
      },
      {
        name: 'commit thread: close does not end the thread',
        find: `this.#send(worker, 'close', { resolve, reject: resolve });`,
        replace: 'resolve(undefined);',
      },
    ],
  ),
  ...faultsIn(
    `${folder}/worker.ts`,
    [commitThread],
    [
      {
        name: 'commit thread: a replaced file is used',
        find: 'if (identifyFile(path) !== identity) throw',
        replace: `if (identity === '') throw`,
      },
      {
        name: 'commit thread: the busy timeout is not passed on',
        find: 'new SqliteStorage(path, { busyTimeoutMs })',
        replace: 'new SqliteStorage(path)',
        tests: ['test/storage/sqlite/locked.test.ts'],
      },
      {
        name: 'commit thread: close waits until a lock is released',
        find: 'const closed = storage.close();',
        replace: 'const closed = last.then(() => storage.close());',
        tests: ['test/storage/sqlite/locked.test.ts'],
      },
      {
        name: 'commit thread: the thread ends before the last response',
        find: 'Promise.all([last, closed])',
        replace: 'closed',
        tests: ['test/storage/sqlite/locked.test.ts'],
      },
      {
        name: 'commit thread: a failed commit ends the thread',
        find: '.catch(toErrorData)',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    `${folder}/messages.ts`,
    [commitThread],
    [
      {
        name: 'commit thread: an empty name turns a create into a delete',
        find: 'if (name === undefined)',
        replace: 'if (!name)',
      },
      {
        name: 'commit thread: an empty tag is lost',
        find: 'tag === undefined ? { id, name }',
        replace: '!tag ? { id, name }',
      },
      {
        name: 'commit thread: errors of SQLite lose their codes',
        find: 'Object.assign(error, properties,',
        replace: 'Object.assign(error, { ...(plantStoreCode !== undefined && properties) },',
      },
      {
        name: 'commit thread: a PlantStoreError becomes an Error',
        find: 'plantStoreCode === undefined ? new Error',
        replace: `plantStoreCode === undefined || message !== '' ? new Error`,
      },
      {
        name: 'commit thread: errors lose their causes',
        find: 'cause: cause === undefined ? undefined',
        replace: 'cause: cause !== undefined ? undefined',
      },
      {
        name: 'commit thread: errors lose the stack of the thread',
        find: 'stack === undefined ? {} : { stack }',
        replace: '{}',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/sqlite/sqlite-storage.ts',
    [commitThread],
    [
      {
        name: 'SQLite: the option commitThread has no effect',
        find: 'if (commitThread) {',
        replace: `if (commitThread && path === '') {`,
      },
      {
        name: 'SQLite: with a commit thread, a removed file cannot be read before the first list',
        find: 'readScan(this.#connection, beforeAll, 1);',
        replace: '',
        tests: [reopen],
      },
      {
        name: 'SQLite: close does not wait for the commit thread',
        find: 'await this.#thread?.close();',
        replace: 'void this.#thread?.close();',
      },
      {
        name: 'SQLite: commits start a thread after close',
        find: 'if (this.#thread !== undefined) {\n      this.#refuseIfClosed();',
        replace: 'if (this.#thread !== undefined) {',
      },
    ],
  ),
];
