import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const plantPageJson = 'test/store/plant-page-json.test.ts';
const writeQueueUnstorable = 'test/store/write-queue-unstorable.test.ts';

/** `src/store`: the store, its write queue, its page cache and the turns of long lists. */
export const storeFaults: readonly Fault[] = [
  ...faultsIn(
    'src/store/list-scheduler.ts',
    ['test/store/list-scheduler.test.ts'],
    [
      {
        name: 'list scheduler: all long lists read a page in the same turn',
        find: 'requests === undefined) waiting',
        replace: 'requests === undefined) setImmediate(resolve); else if (requests.length > 1e9) waiting',
      },
      {
        name: 'list scheduler: a second long list never reads a page',
        find: 'if (waiting.size > 0) setImmediate(giveTurn);',
        replace: '',
      },
      {
        name: 'list scheduler: all lists of one user are read before those of others',
        find: 'waiting.delete(user);\n',
        replace: 'if (requests.length === 1) waiting.delete(user);\n',
      },
    ],
  ),
  ...faultsIn(
    'src/store/page-cache.ts',
    ['test/store/page-cache.test.ts'],
    [
      {
        name: 'page cache: callers can change a cached page',
        find: 'Object.freeze(page)',
        replace: 'page',
        tests: [plantPageJson],
      },
      {
        name: 'page cache: a page cached for another limit is returned',
        find: 'cached?.byLimit.get(limit);\n    if',
        replace: 'cached?.byLimit.values().next().value;\n    if',
      },
      {
        name: 'page cache: commits of other processes are not detected',
        find: 'version !== this.#version',
        replace: 'this.#version === undefined',
      },
      {
        name: 'page cache: commits of other processes are detected only once',
        find: `  setImmediate(() => {
      this.#isVersionChecked = false;
    });
  `,
        replace: '',
      },
      {
        name: 'page cache: a page read before a commit is cached after it',
        find: 'if (invalidations === this.#invalidations) this.#add',
        replace: 'this.#add',
      },
      {
        name: 'page cache: the most recently used user is evicted',
        find: 'this.#users.set(user, cached);\n    return page;',
        replace: 'return page;',
      },
      {
        name: 'page cache: an evicted page still counts towards the maximum size',
        find: 'this.#users.delete(user);\n    this.#text -= cached.text;',
        replace: 'this.#users.delete(user);',
      },
      {
        name: 'page cache: the size is not limited',
        find: 'this.#text <= this.#options.maxText',
        replace: 'this.#text <= Infinity',
      },
    ],
  ),
  ...faultsIn(
    'src/store/plant-store.ts',
    ['test/store/plant-store.test.ts'],
    [
      {
        name: 'store: creating a plant with a taken id succeeds',
        find: `if (!(await created)) throw new PlantStoreError('id_taken');`,
        replace: 'await created;',
      },
      {
        name: 'store: a limit above the maximum is accepted',
        find: 'limit > maxLimit',
        replace: 'limit > maxLimit + 1',
      },
      { name: 'store: a limit of 0 is rejected', find: 'limit < 0 ||', replace: 'limit <= 0 ||' },
      {
        name: 'store: a list ends after its first page',
        find: 'page.length < range.limit &&',
        replace: 'page.length <= range.limit &&',
      },
      {
        name: 'store: a page may be as long as the limit',
        find: 'limit: Math.min(left, maxPageLength)',
        replace: 'limit: Math.min(left, maxLimit)',
      },
      { name: 'store: long lists do not wait for their turn', find: 'await pageTurn(user);', replace: '' },
      {
        name: 'store: the storage is closed before pending writes are committed',
        find: 'this.#writes.close().then(() => this.#storage.close())',
        replace: 'this.#storage.close()',
      },
      {
        name: 'store: a commit may return too few outcomes',
        find: 'outcomes.length === writes.length',
        replace: 'outcomes.length <= writes.length',
      },
      {
        name: 'store: a storage failure reveals its cause in the message',
        find: `'storage_unavailable', undefined, { cause: error }`,
        replace: `'storage_unavailable', String(error), { cause: error }`,
      },
      {
        name: 'store: a closed store returns cached pages',
        find: `if (this.#closing !== undefined) throw new PlantStoreError('closed');\n    if (limit === 0)`,
        replace: 'if (limit === 0)',
        tests: [plantPageJson],
      },
      {
        name: 'store: a commit evicts only the pages of its first user',
        find: '{ user } of writes)',
        replace: '{ user } of writes.slice(0, 1))',
        tests: [plantPageJson],
      },
      {
        name: 'store: a failed commit does not evict pages',
        find:
          '    try {\n' +
          '      return await callStorage(() => commitChecked(this.#storage, writes));\n' +
          '    } finally {',
        replace:
          '    const outcomes = await callStorage(() => commitChecked(this.#storage, writes));\n' +
          '    try {\n' +
          '      return outcomes;\n' +
          '    } finally {',
        tests: [plantPageJson],
      },
    ],
  ),
  ...faultsIn(
    'src/store/write-queue.ts',
    ['test/store/write-queue.test.ts'],
    [
      {
        name: 'write queue: writes are acknowledged before the commit',
        find: 'await this.#settle(this.#takeBatch());',
        replace:
          'const batch = this.#takeBatch();\n' +
          '    for (const entry of batch) entry.resolve(true);\n' +
          '    await this.#settle(batch);',
      },
      {
        name: 'write queue: one write too many may wait',
        find: 'this.#waiting >= this.#options',
        replace: 'this.#waiting > this.#options',
      },
      {
        name: 'write queue: a batch contains one write too many',
        find: 'slice(0, this.#options.maxBatchWrites)',
        replace: 'slice(0, this.#options.maxBatchWrites + 1)',
      },
      {
        name: 'write queue: a batch contains two writes to one plant',
        find: 'if (last === undefined) this.#next.push(entry);\n    else last.next = entry;',
        replace: 'this.#next.push(entry);',
      },
      {
        name: 'write queue: a third write to a plant replaces the second',
        find: 'lastById.set(id, entry);',
        replace: 'if (last === undefined) lastById.set(id, entry);',
      },
      {
        name: 'write queue: a plant is never released after its last write',
        find: 'if (next === undefined) this.#forget(write);',
        replace: 'if (next === undefined) continue;',
      },
      {
        name: 'write queue: two batches are committed at the same time',
        find: 'if (!this.#isCommitting && this.#next.length > 0) void',
        replace: 'if (this.#next.length > 0) void',
      },
      {
        name: 'write queue: a commit does not wait for the clients of the last one',
        find: 'else if (hasGrown) this',
        replace: 'else if (!hasGrown) this',
      },
      {
        name: 'write queue: a wait for clients does not end when they have returned',
        find: 'this.#waiting >= this.#returnWait.enough',
        replace: 'this.#waiting > this.#returnWait.enough',
      },
      {
        name: 'write queue: a wait for clients never ends without them',
        find: 'const timer = setTimeout(() => {\n      this.#schedule();\n    }, waitMs);',
        replace: 'const timer = setTimeout(() => undefined, waitMs);',
      },
      {
        name: 'write queue: a single write waits for more',
        find: 'if (turns > 0 && this.#waiting > before)',
        replace: 'if (turns > 0)',
      },
      {
        name: 'write queue: a batch waits as long as writes arrive',
        find: 'if (turns > 0 && this.#waiting > before)',
        replace: 'if (this.#waiting > before)',
      },
      {
        name: 'write queue: every write gets the outcome of the first',
        find: 'outcomes[index] === true',
        replace: 'outcomes[0] === true',
      },
      {
        name: 'write queue: a failed batch rejects waiting writes too',
        find: 'for (const entry of batch) entry.reject(reason);',
        replace: 'for (const entry of [...batch, ...this.#next]) entry.reject(reason);',
      },
      {
        name: 'write queue: no batch is committed after a failed one',
        find: 'await this.#settle(this.#takeBatch());\n    this.#isCommitting = false;',
        replace: 'await this.#settle(this.#takeBatch());',
      },
      {
        name: 'write queue: writes are accepted after close',
        find: `if (this.#closing !== undefined) throw new PlantStoreError('closed');`,
        replace: '',
      },
      {
        name: 'write queue: close does not wait for accepted writes',
        find: 'this.#onDrained = resolve;',
        replace: 'resolve();',
      },
      {
        name: 'write queue: closing an idle queue never finishes',
        find: 'this.#onDrained = resolve;\n      this.#reportIfDrained();',
        replace: 'this.#onDrained = resolve;',
      },
      {
        name: 'write queue: an unstorable write fails its whole batch',
        find: 'isUnstorable(error) && batch.length > 1',
        replace: 'isUnstorable(error) && batch.length < 1',
        tests: [writeQueueUnstorable],
      },
      {
        name: 'write queue: the second half of a split batch is not committed',
        find: 'await this.#settle(batch.slice(middle));',
        replace: '',
        tests: [writeQueueUnstorable],
      },
      {
        name: 'write queue: both halves of a split batch are committed at the same time',
        find: 'await this.#settle(batch.slice(0, middle));',
        replace: 'void this.#settle(batch.slice(0, middle));',
        tests: [writeQueueUnstorable],
      },
      {
        name: 'write queue: the writes of a split batch are subtracted twice',
        find: 'await this.#settle(batch.slice(middle));\n        return;',
        replace: 'await this.#settle(batch.slice(middle));\n        this.#waiting -= batch.length;\n        return;',
        tests: [writeQueueUnstorable],
      },
    ],
  ),
  ...faultsIn(
    'src/store/publish-writes.ts',
    ['test/store/publish-writes.test.ts'],
    [
      {
        name: 'publish writes: the message of a create with a taken id has no error',
        find: `isNew === false ? 'id_taken' : error`,
        replace: 'error',
      },
      {
        name: 'publish writes: the message of a failed delete says that the plant existed',
        find: '(outcome, existed = false) =>',
        replace: '(outcome, existed = true) =>',
      },
    ],
  ),
];
