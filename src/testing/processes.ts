import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Plant } from '../core/model/plant.ts';
import type { StorageAdapter, Write } from '../core/storage-adapter.ts';
import { expectEqual } from './expect.ts';
import type { Tests } from './place.ts';
import { create, integersBelow, remove } from './plants.ts';
import { ReferenceStore } from './reference-store.ts';
import { expectStored, scanAll } from './stored.ts';

/** The user whose ids all processes try to create. */
const contested = 'all';

/** Returns the batch with the number `n` of a writer: ten long plants, and the removal of four older ones. */
function batchOf(writer: string, n: number): Write[] {
  const added = integersBelow(10).map((k) => create(10 * n + k, writer, `${writer} `.repeat(500)));
  const removed = n === 0 ? [] : integersBelow(4).map((k) => remove(10 * (n - 1) + k, writer));
  return [...added, ...removed, create(n, contested, writer)];
}

/**
 * Commits batch after batch until the process is killed. Call this function in a file that the option `startProcess`
 * of `testStorageAdapter` starts with an IPC channel, as `fork` does.
 *
 * @example
 * await commitUntilKilled(() => new MyStorage(process.argv[2]));
 */
export async function commitUntilKilled(open: () => StorageAdapter | Promise<StorageAdapter>): Promise<void> {
  process.once('disconnect', () => process.exit());
  const [writer] = (await once(process, 'message')) as [string];
  const storage = await open();
  for (let n = 0; ; n++) {
    const outcomes = await storage.commit(batchOf(writer, n));
    await new Promise((resolve) => process.send?.(outcomes, resolve));
  }
}

/** A process that commits, and the outcomes of its commits so far. */
class Writer {
  readonly name: string;
  readonly outcomes: boolean[][] = [];
  readonly #process: ChildProcess;

  constructor(name: string, started: ChildProcess) {
    assert.ok(started.connected, 'startProcess must return a process with an IPC channel, as fork does.');
    this.name = name;
    this.#process = started.on('message', (outcomes) => this.outcomes.push(outcomes as boolean[]));
    started.send(name);
  }

  /** Waits for more acknowledged commits. */
  async commitMore(): Promise<void> {
    const enough = this.outcomes.length + 10;
    while (this.outcomes.length < enough) {
      const { exitCode } = this.#process;
      assert.equal(exitCode, null, `The process ${this.name} ended. Its error is printed on stderr.`);
      await sleep(1);
    }
  }

  async kill(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    // All messages have arrived when the channel has closed, which is after the exit.
    const closed = once(this.#process, 'disconnect');
    this.#process.kill('SIGKILL');
    await closed;
  }
}

/** Checks that what a writer has committed is stored, and of the commit that was in flight all or nothing. */
function expectBatches({ name, outcomes }: Writer, stored: ReferenceStore): void {
  const due = (count: number): Plant[] => {
    const model = new ReferenceStore();
    for (const write of integersBelow(count).flatMap((n) => batchOf(name, n))) model.apply(write);
    return model.list(name);
  };
  const listed = stored.list(name);
  if (isDeepStrictEqual(listed, due(outcomes.length + 1))) return;
  const rule = `${name} was killed after ${outcomes.length} commits. All of them must be stored, and the next one or not.`;
  expectEqual(listed, due(outcomes.length), rule);
}

/** Checks that every other write succeeded, and that a contested id belongs to the writer that has created it. */
function expectOutcomes({ name, outcomes }: Writer, stored: ReferenceStore): void {
  const owners = new Map(stored.list(contested).map((plant) => [Number(plant.id), plant.name]));
  for (const [n, each] of outcomes.entries()) {
    assert.ok(each.slice(0, -1).every(Boolean), `Commit ${n} of ${name} did not find what it had committed before.`);
    const rule = `The create of id ${n} in ${name} returned ${each.at(-1) ?? ''}, but the plant is of:`;
    assert.ok(owners.has(n) && (owners.get(n) === name) === each.at(-1), `${rule} ${owners.get(n) ?? 'no process'}.`);
  }
}

export const processTests: Tests = {
  'a process that is killed loses no commit, and neither blocks nor loses those of another process': async (place) => {
    const writers: Writer[] = [];
    try {
      for (const round of integersBelow(2)) {
        const names = place.shared === 'exclusive' ? ['process'] : ['process 1', 'process 2'];
        const started: Writer[] = [];
        for (const name of names) {
          const process = await place.use<ChildProcess>('startProcess');
          started.push(new Writer(`${name} of round ${round + 1}`, process));
        }
        writers.push(...started);
        for (const [n, writer] of started.entries()) {
          for (const each of started.slice(n)) await place.call(`ten commits in ${each.name}`, () => each.commitMore());
          await sleep(round);
          await writer.kill();
        }
        const storage = await place.open('reopen');
        const stored = new ReferenceStore(await scanAll(storage));
        for (const writer of writers) expectBatches(writer, stored);
        for (const writer of writers) expectOutcomes(writer, stored);
        await expectStored(storage, stored, 'list and scan must return the same plants.');
        await storage.close();
      }
    } finally {
      for (const writer of writers) await writer.kill();
    }
  },
};
