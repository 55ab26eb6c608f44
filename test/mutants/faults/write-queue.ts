import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const unstorable = 'test/store/write-queue-unstorable.test.ts';

/** Group commit: order, bounds, and who hears of which outcome. */
export const writeQueueFaults: readonly Fault[] = faultsIn(
  'src/store/write-queue.ts',
  ['test/store/write-queue.test.ts'],
  [
    {
      name: 'acknowledges before the commit',
      find: 'await this.#settle(this.#takeBatch());',
      replace:
        'const batch = this.#takeBatch();\n    for (const entry of batch) entry.resolve(true);\n    await this.#settle(batch);',
    },
    {
      name: 'takes one write too many',
      find: 'this.#waiting >= this.#options',
      replace: 'this.#waiting > this.#options',
    },
    {
      name: 'a batch takes one write too many',
      find: 'slice(0, this.#options.maxBatchWrites)',
      replace: 'slice(0, this.#options.maxBatchWrites + 1)',
    },
    {
      name: 'a batch holds two writes to one plant',
      find: 'if (last === undefined) this.#next.push(entry);\n    else last.behind = entry;',
      replace: 'this.#next.push(entry);',
    },
    {
      name: 'a third write to a plant pushes out the second',
      find: 'lastById.set(id, entry);',
      replace: 'if (last === undefined) lastById.set(id, entry);',
    },
    {
      name: 'a plant that was written to is waited for, for ever',
      find: 'if (behind === undefined) this.#forget(write);',
      replace: 'if (behind === undefined) continue;',
    },
    {
      name: 'two batches are under way at once',
      find: 'if (this.#isScheduled || this.#isCommitting) return;',
      replace: 'if (this.#isScheduled) return;',
    },
    {
      name: 'a write that is alone waits for more',
      find: 'if (turns > 0 && this.#waiting > before)',
      replace: 'if (turns > 0)',
    },
    {
      name: 'a batch waits as long as more come',
      find: 'if (turns > 0 && this.#waiting > before)',
      replace: 'if (this.#waiting > before)',
    },
    {
      name: 'every write gets the outcome of the first',
      find: 'outcomes[index] === true',
      replace: 'outcomes[0] === true',
    },
    {
      name: 'a failed batch fails those that wait',
      find: 'for (const entry of batch) entry.reject(reason);',
      replace: 'for (const entry of [...batch, ...this.#next]) entry.reject(reason);',
    },
    {
      name: 'a failed batch is the last one',
      find: 'await this.#settle(this.#takeBatch());\n    this.#isCommitting = false;',
      replace: 'await this.#settle(this.#takeBatch());',
    },
    {
      name: 'takes writes after close',
      find: `if (this.#closing !== undefined) throw new PlantStoreError('closed');`,
      replace: '',
    },
    { name: 'close does not wait for the writes taken', find: 'this.#onDrained = resolve;', replace: 'resolve();' },
    {
      name: 'an idle queue never closes',
      find: 'this.#onDrained = resolve;\n      this.#reportIfDrained();',
      replace: 'this.#onDrained = resolve;',
    },
    {
      name: 'a write that cannot be held fails its whole batch',
      find: 'isUnstorable(error) && batch.length > 1',
      replace: 'isUnstorable(error) && batch.length < 1',
      tests: [unstorable],
    },
    {
      name: 'the second half of a batch is lost',
      find: 'await this.#settle(batch.slice(middle));',
      replace: '',
      tests: [unstorable],
    },
    {
      name: 'both halves of a batch are under way at once',
      find: 'await this.#settle(batch.slice(0, middle));',
      replace: 'void this.#settle(batch.slice(0, middle));',
      tests: [unstorable],
    },
    {
      name: 'a batch that was halved counts twice',
      find: 'await this.#settle(batch.slice(middle));\n        return;',
      replace: 'await this.#settle(batch.slice(middle));\n        this.#waiting -= batch.length;\n        return;',
      tests: [unstorable],
    },
  ],
);
