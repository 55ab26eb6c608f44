import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { MemoryStorage } from '../../src/index.ts';
import type { Plant } from '../../src/index.ts';
import type { OwnedPlant } from '../../src/adapter.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { ReferenceStore } from '../support/reference-store.ts';
import { countConnections, startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { owned } from '../support/stored-plants.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { anyId } from './bodies.ts';
import { checkConnection, secret } from './check.ts';
import type { Verdict } from './check.ts';
import { authenticate, collector, stranger, users } from './requests.ts';
import { runScript, scriptOf } from './script.ts';
import type { Script } from './script.ts';

/** The input of one check. */
interface Case {
  /** The plants that exist before the requests. */
  readonly plants: readonly OwnedPlant[];
  /** One script for each concurrent connection. */
  readonly scripts: readonly Script[];
}

const plant = fc.record({ id: anyId, name: fc.constantFrom('old', '"', '\u{1F33F}') }, { noNullPrototype: true });

const anyCase: fc.Arbitrary<Case> = fc.record({
  plants: fc.uniqueArray(fc.record({ user: fc.constantFrom(...users), plant }), {
    maxLength: 5,
    selector: ({ user, plant: { id } }) => `${user} ${id}`,
  }),
  scripts: fc.oneof(
    { weight: 3, arbitrary: fc.tuple(scriptOf(users)) },
    // Each connection has its own user, so that the order of each user's writes is known.
    { weight: 1, arbitrary: fc.tuple(...users.map((user) => scriptOf([user]))) },
  ),
});

/** The plants that no case changes: more than two pages of the collector's plants, and the stranger's plants. */
const lasting: readonly OwnedPlant[] = [
  ...Array.from({ length: 2100 }, (_, n) =>
    owned(collector, { id: BigInt(n) * 3n, name: `plant ${n} \u{1F33F}`, ...(n % 2 === 0 && { tag: '"' }) }),
  ),
  ...[1n, 2n, 3n].map((id) => owned(stranger, { id, name: `${secret} ${id}` })),
];

/** Where the server stores its plants. */
export type StorageName = 'memory' | 'sqlite';

/** A real server with its own storage. Many cases use the same server. */
interface FuzzedServer extends Service {
  readonly cleanUp: CleanUp;
}

async function startServer(storageName: StorageName): Promise<FuzzedServer> {
  const cleanUp = new CleanUp();
  const storage =
    storageName === 'memory'
      ? new MemoryStorage()
      : new SqliteStorage(join(await temporaryFolder(cleanUp), 'plants.db'));
  const service = await startService(cleanUp, { storage, authenticate });
  await Promise.all(lasting.map(({ user, plant }) => service.store.createPlant(user, plant)));
  // Records an uncaught error, which would otherwise end the process.
  const onUncaught = (error: Error): void => void service.faults.push(error);
  process.on('uncaughtException', onUncaught);
  cleanUp.after(() => void process.off('uncaughtException', onUncaught));
  return { ...service, cleanUp };
}

export interface SearchOptions {
  readonly storage: StorageName;
  readonly seed: number;
  /** The path of the case with which the search starts. A report contains this path. */
  readonly path?: string | undefined;
  /** The search ends after this many milliseconds. */
  readonly ms: number;
}

/**
 * Checks until the time is over that the server behaves as specified, whatever clients send. Returns the number of
 * cases. Rejects with a report on the first failed case after reducing it to a minimal case.
 */
export async function search({ storage, seed, path = '', ms }: SearchOptions): Promise<number> {
  let cases = 0;
  const running: { server?: FuzzedServer | undefined } = {};
  const stop = async (): Promise<void> => {
    await running.server?.cleanUp[Symbol.asyncDispose]();
    running.server = undefined;
  };
  const property = fc.asyncProperty(anyCase, async (given) => {
    running.server ??= await startServer(storage);
    cases++;
    try {
      await runCase(running.server, given);
    } catch (error) {
      // The next case must not start with the state that this failed case left.
      await stop();
      throw error;
    }
  });
  try {
    await fc.assert(property, { seed, path, numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: ms });
  } finally {
    await stop();
  }
  return cases;
}

/** How long the server may take to notice that all clients have closed their connections. */
const maxCloseMs = 5000;

async function runCase({ server, store, port, faults, call }: FuzzedServer, { plants, scripts }: Case): Promise<void> {
  for (const user of users) {
    const old = await store.listPlants(user);
    await Promise.all(old.map(({ id }) => store.deletePlant(user, id)));
  }
  await Promise.all(plants.map(({ user, plant }) => store.createPlant(user, plant)));
  const exchanged = await Promise.all(scripts.map((script) => runScript(port, script)));
  const deadline = performance.now() + maxCloseMs;
  while ((await countConnections(server)) > 0) {
    assert.ok(performance.now() < deadline, `a connection is open ${maxCloseMs} ms after its client closed it`);
    await sleep(1);
  }
  // The write of this request is committed after all pending writes.
  const { status } = await call('DELETE', `/plants/${10n ** 15n}`, { token: 'cyn', headers: { connection: 'close' } });
  assert.equal(status, 404, 'the response to a correct request');
  assert.deepEqual(faults, []);
  const found = new Map<string, readonly Plant[]>();
  for (const user of [...users, stranger]) found.set(user, await store.listPlants(user));
  for (const [n, result] of exchanged.entries()) {
    const script = scripts[n];
    assert.ok(script);
    const verdict = checkConnection(script, result, new ReferenceStore([...plants, ...lasting]));
    checkStored(found, verdict, [...(scripts.length === 1 ? users : users.slice(n, n + 1)), stranger]);
  }
}

/** Checks the stored plants of users whose plants are written by only one client. */
function checkStored(
  found: ReadonlyMap<string, readonly Plant[]>,
  { states, changes }: Verdict,
  checked: readonly string[],
): void {
  const exact = checked.filter((user) => user !== changes?.user);
  const expected = states.map((state) => exact.map((user) => state.list(user)));
  const stored = exact.map((user) => found.get(user));
  const closest = expected.find((plants) => isDeepStrictEqual(plants, stored)) ?? expected.at(-1);
  assert.deepEqual({ users: exact, stored }, { users: exact, stored: closest });
  if (changes === undefined) return;
  const { user, count } = changes;
  const [before, after] = [states[0]?.list(user) ?? [], found.get(user) ?? []];
  const missingIn = (plants: readonly Plant[], others: readonly Plant[]): Plant[] =>
    plants.filter((plant) => !others.some((other) => isDeepStrictEqual(plant, other)));
  const changed = [...missingIn(before, after), ...missingIn(after, before)];
  assert.ok(changed.length <= count, `${user} has ${changed.length} plants more or less after ${count} writes`);
}
