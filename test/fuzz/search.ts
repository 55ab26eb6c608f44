import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { MemoryStorage } from '../../src/index.ts';
import type { OwnedPlant } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { countConnections, startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { owned } from '../support/stored-plants.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { authenticate, collector, secret, stranger, users } from './callers.ts';
import { checkConnection } from './check.ts';
import { runScript } from './client-script.ts';
import type { Script } from './client-script.ts';
import { rule } from './finding.ts';
import { anyId } from './numbers.ts';
import { plantsOf } from './reference-store.ts';
import { requestBytes } from './request-bytes.ts';

/** One case that the property is checked with. */
interface Case {
  /** The plants that exist before. */
  readonly plants: readonly OwnedPlant[];
  /** One for each of the concurrent connections. */
  readonly scripts: readonly Script[];
}

const part = fc.nat(1000).map((n) => n / 1000);

const script: fc.Arbitrary<Script> = fc.record({
  drafts: fc.array(requestBytes, { minLength: 1, maxLength: 5, size: 'max' }),
  isStepwise: fc.boolean(),
  cuts: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(part, { maxLength: 5 }) }),
  ending: fc.constantFrom('waits', 'waits', 'waits', 'waits', 'half-closes', 'destroys', 'resets'),
  endsAt: part,
});

const plant = fc.record({ id: anyId, name: fc.constantFrom('old', '"', '\u{1F33F}') }, { noNullPrototype: true });

const anyCase: fc.Arbitrary<Case> = fc.record({
  plants: fc.uniqueArray(fc.record({ user: fc.constantFrom(...users), plant }), {
    maxLength: 5,
    selector: ({ user, plant: { id } }) => `${user} ${id}`,
  }),
  scripts: fc.oneof(
    { weight: 3, arbitrary: fc.array(script, { minLength: 1, maxLength: 1 }) },
    { weight: 1, arbitrary: fc.tuple(...users.map((user) => script.map((mixed) => ofOneUser(mixed, user)))) },
  ),
});

/** Replaces the users of all requests by one user, so that the order of all writes of this user is known. */
function ofOneUser(script: Script, user: string): Script {
  return { ...script, drafts: script.drafts.map((draft) => draft.replaceAll(new RegExp(users.join('|'), 'g'), user)) };
}

/** The plants that no case changes: more than two pages of the collector, and those of the stranger. */
const lasting: readonly OwnedPlant[] = [
  ...Array.from({ length: 2100 }, (_, n) =>
    owned(collector, { id: BigInt(n) * 3n, name: `plant ${n} \u{1F33F}`, ...(n % 2 === 0 && { tag: '"' }) }),
  ),
  ...[1n, 2n, 3n].map((id) => owned(stranger, { id, name: `${secret} ${id}` })),
];

/** Where the server stores its plants. */
export type StorageName = 'memory' | 'sqlite';

/** A real server with its own storage, used for many cases. */
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
  // Records an error that would have ended the process.
  const onUncaught = (error: Error): void => void service.faults.push(error);
  process.on('uncaughtException', onUncaught);
  cleanUp.after(() => void process.off('uncaughtException', onUncaught));
  return { ...service, cleanUp };
}

export interface SearchOptions {
  readonly storage: StorageName;
  readonly seed: number;
  /** The path of a case, from a report. The search starts there. */
  readonly path?: string | undefined;
  /** The search ends after this many milliseconds. */
  readonly ms: number;
}

/**
 * Checks the property until the time is over: whatever clients send, the server behaves as the interface specifies.
 * Returns the number of cases. Rejects with a report of the first failed case, shrunk.
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
      // The next case must not start with the state that this one left.
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
const correctRequest = `DELETE /plants/${10n ** 15n} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer cyn\r\n\r\n`;

async function runCase({ server, store, port, faults }: FuzzedServer, { plants, scripts }: Case): Promise<void> {
  for (const user of users) {
    const old = await store.listPlants(user);
    await Promise.all(old.map(({ id }) => store.deletePlant(user, id)));
  }
  await Promise.all(plants.map(({ user, plant }) => store.createPlant(user, plant)));
  const results = await Promise.all(scripts.map((script) => runScript(port, script)));
  const deadline = performance.now() + maxCloseMs;
  while ((await countConnections(server)) > 0) {
    rule(performance.now() < deadline, () => `a connection is open ${maxCloseMs} ms after its client closed it`);
    await sleep(1);
  }
  // The write of this request is committed after all pending ones.
  const { received } = await runScript(port, { drafts: [correctRequest] });
  rule(received.responses[0]?.status === 404, () => `the response to a correct request is ${JSON.stringify(received)}`);
  assert.deepEqual(faults, []);
  const stored: OwnedPlant[] = [];
  for (const user of [...users, stranger]) {
    stored.push(...(await store.listPlants(user)).map((plant) => owned(user, plant)));
  }
  for (const [n, result] of results.entries()) {
    const states = checkConnection(result, [...plants, ...lasting]);
    const checked = [...(results.length === 1 ? users : users.slice(n, n + 1)), stranger];
    const found = checked.map((user) => plantsOf(stored, user));
    const expected = states.map((state) => checked.map((user) => plantsOf(state, user)));
    const closest = expected.find((plants) => isDeepStrictEqual(plants, found)) ?? expected.at(-1);
    assert.deepEqual(found, closest, `what is stored for ${checked.join()}`);
  }
}
