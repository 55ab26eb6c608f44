import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { StorageAdapter, Write } from '../core/storage-adapter.ts';
import { expectEqual, expectStored, scanAll } from './checked-adapter.ts';
import { Skip } from './place.ts';
import type { Place, Tests } from './place.ts';
import { ReferenceStore, create, createEach, integersBelow, plantOf, remove, removeEach } from './plants.ts';

/** The user whose ids all processes try to create. */
const contested = 'all';

/** Returns batch `n` of a writer: it adds ten long plants and one contested plant, and removes four older plants. */
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
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  const [writer] = (await once(process, 'message')) as [string];
  const storage = await open();
  for (let n = 0; ; n++) {
    const outcomes = await storage.commit(batchOf(writer, n));
    await new Promise((resolve) => process.send?.(outcomes, resolve));
  }
}

/** A process that commits, and the outcomes of the commits that it has acknowledged. */
type Writer = Awaited<ReturnType<typeof start>>;

async function start(place: Place, name: string) {
  const process = await place.use<ChildProcess>('startProcess');
  assert.ok(process.connected, 'startProcess must return a process with an IPC channel, as fork does.');
  const outcomes: boolean[][] = [];
  process.on('message', (each) => outcomes.push(each as boolean[])).send(name);
  return { name, process, outcomes };
}

/** Waits until the process has acknowledged ten more commits. */
function commitMore(place: Place, { name, process, outcomes }: Writer): Promise<void> {
  const enough = outcomes.length + 10;
  return place.call(`ten commits in ${name}`, async () => {
    while (outcomes.length < enough && process.connected) await sleep(1);
    assert.ok(process.connected, `${name} ended by itself. Its error is on stderr.`);
  });
}

async function kill({ process }: Writer): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  // When the channel closes, all messages have been received.
  const exited = Promise.all([once(process, 'disconnect'), once(process, 'exit')]);
  process.kill('SIGKILL');
  await exited;
}

/** Checks that a writer's acknowledged commits are stored, and that its commit in flight was all or nothing. */
function expectBatches({ name, outcomes }: Writer, stored: ReferenceStore): void {
  const [due, next] = [new ReferenceStore(), new ReferenceStore()];
  for (const write of outcomes.flatMap((_, n) => batchOf(name, n))) due.apply(write);
  for (const write of integersBelow(outcomes.length + 1).flatMap((n) => batchOf(name, n))) next.apply(write);
  if (!isDeepStrictEqual(stored.list(name), next.list(name))) {
    const rule = `${name} was killed after ${outcomes.length} commits. All must be stored, the next in full or not.`;
    expectEqual(stored.list(name), due.list(name), rule);
  }
  const owners = new Map(stored.list(contested).map((plant) => [Number(plant.id), plant.name]));
  for (const [n, each] of outcomes.entries()) {
    const owner = owners.get(n) ?? 'no process';
    const rule = `Commit ${n} of ${name} returned a wrong outcome. ${owner} created plant ${n} of user ${contested}.`;
    expectEqual(each, [...each.slice(0, -1).fill(true), owner === name], rule);
  }
}

export const sharingTests: Tests = {
  'adapters at one location share their plants if shared is true, and otherwise have their own': async (place) => {
    const { shared } = place.options;
    if (shared === 'exclusive') throw new Skip('Only one adapter can be open.');
    const rule = shared
      ? 'If shared is true, all adapters at a location must share their plants.'
      : 'If shared is false, every adapter must have its own plants and must be empty when it is opened.';
    const concurrent = `${rule} Of two concurrent writes for one plant at one location, this number must succeed.`;
    const [first, second] = [await place.open(), await place.open()];
    const commitBoth = async (one: Write, two: Write): Promise<number> =>
      (await Promise.all([first.commit([one]), second.commit([two])])).flat().filter(Boolean).length;

    const same = integersBelow(50).map((n) => plantOf('ada', n));
    for (const write of createEach(same)) expectEqual(await commitBoth(write, write), shared ? 1 : 2, concurrent);
    for (const n of integersBelow(20)) await commitBoth(create(n, 'bob'), create(n + 20, 'bob'));
    const others = integersBelow(shared ? 40 : 20).map((n) => plantOf('bob', n, ''));
    await expectStored(first, [...same, ...others], `${rule} Concurrent commits must all take effect.`);
    if (shared) for (const write of removeEach(same)) expectEqual(await commitBoth(write, write), 1, concurrent);

    await first.close();
    await expectStored(await place.open(), shared ? others : [], rule);
    const rest = 'An adapter must work when another one was closed.';
    expectEqual(await second.commit([remove(20, 'bob')]), [true], rest);
    if (shared) await expectStored(second, others.toSpliced(20, 1), rest);
  },

  'a process that is killed loses no commit, and does not block another process': async (place) => {
    const writers: Writer[] = [];
    const names = place.options.shared === 'exclusive' ? ['process'] : ['process 1', 'process 2'];
    try {
      for (const round of [1, 2]) {
        for (const name of names) writers.push(await start(place, `${name} of round ${round}`));
        const running = writers.slice(-names.length);
        for (const [n, writer] of running.entries()) {
          for (const each of running.slice(n)) await commitMore(place, each);
          await sleep(round);
          await kill(writer);
        }
      }
    } finally {
      for (const writer of writers) await kill(writer);
    }
    const storage = await place.open('reopen');
    const stored = new ReferenceStore(await scanAll(storage));
    for (const writer of writers) expectBatches(writer, stored);
    await expectStored(storage, stored, 'list and scan must return the same plants.');
  },
};
