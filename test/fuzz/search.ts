import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'undici';
import { MemoryStorage } from '../../src/index.ts';
import type { StorageAdapter } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { RawConnection } from '../support/raw-http.ts';
import { ReferenceStore } from '../support/reference-store.ts';
import { countConnections, createFetchService, startService } from '../support/service.ts';
import type { AnyService, Service } from '../support/service.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { perform } from './expectation.ts';
import { malformedWith } from './malformed.ts';
import type { Malformed } from './malformed.ts';
import { requestWith } from './requests.ts';
import type { SentRequest } from './requests.ts';

/** No client has a token of this user. The names of the user's plants must not be in any response. */
const stranger = 'zoe';
const secret = 'nobody-may-see-this';

/** Each client has its own user, so that the order of each user's requests is known. */
const anyCase = fc.record({
  overHttp: fc.array(requestWith(['ada', 'ada', 'ada-reads', 'ada-writes']), { maxLength: 6 }),
  overFetch: fc.array(requestWith(['bob']), { maxLength: 3 }),
  malformed: fc.option(malformedWith(['eve']), { nil: undefined }),
});
type Case = typeof anyCase extends fc.Arbitrary<infer T> ? T : never;

/** Two services over one store. */
type Fronts = readonly [node: Service, fetch: AnyService];

async function startFronts(cleanUp: CleanUp, storage: StorageAdapter): Promise<Fronts> {
  const node = await startService(cleanUp, { storage });
  await node.store.createPlant(stranger, { id: 1, name: secret });
  return [node, createFetchService(cleanUp, { store: node.store })];
}

export interface SearchOptions {
  readonly seed: number;
  /** The path of the case with which the search starts. A report contains this path. */
  readonly path?: string | undefined;
  /** The search ends after this many milliseconds. */
  readonly ms: number;
}

/**
 * Checks until the time is over that the services behave as specified, whatever clients send. Returns the number of
 * cases. Rejects with a report on the first failed case after reducing it to a minimal case.
 */
export async function search({ seed, path = '', ms }: SearchOptions): Promise<number> {
  await using cleanUp = new CleanUp();
  const file = join(await temporaryFolder(cleanUp), 'plants.db');
  const inMemory = await startFronts(cleanUp, new MemoryStorage());
  const onSqlite = await startFronts(cleanUp, new SqliteStorage(file));
  let cases = 0;
  const property = fc.asyncProperty(anyCase, async (given) => {
    cases++;
    await Promise.all([runCase(inMemory, given), runCase(onSqlite, given)]);
  });
  await fc.assert(property, { seed, path, numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: ms });
  return cases;
}

async function runCase([node, fetch]: Fronts, { overHttp, overFetch, malformed }: Case): Promise<void> {
  for (const user of ['ada', 'bob', 'eve']) {
    const plants = await node.store.listPlants(user);
    await Promise.all(plants.map(({ id }) => node.store.deletePlant(user, id)));
  }
  const reference = new ReferenceStore();
  await Promise.all([
    checkOverHttp(node.url, overHttp, reference),
    checkOverFetch(fetch, overFetch, reference),
    malformed && checkMalformed(node.port, malformed),
  ]);
  await eventuallyEqual(() => countConnections(node.server), 0);
  for (const user of ['ada', 'bob']) assert.deepEqual(await node.store.listPlants(user), reference.list(user));
  assert.deepEqual(await node.store.listPlants(stranger), [{ id: 1n, name: secret }]);
  assert.deepEqual([...node.faults, ...fetch.faults], []);
}

/** Pipelines the requests on one connection. */
async function checkOverHttp(url: string, requests: readonly SentRequest[], reference: ReferenceStore): Promise<void> {
  const client = new Client(url, { pipelining: 4 });
  const exchanges = requests.map(async (request): Promise<Exchange> => {
    const { method, target: path, headers } = request;
    const sent = { method, path, headers, body: bytesIn(request), idempotent: true, blocking: false };
    const response = await client.request(sent);
    return { request, status: response.statusCode, headers: response.headers, text: await response.body.text() };
  });
  try {
    for (const exchange of await Promise.all(exchanges)) check(exchange, reference);
  } finally {
    await client.destroy();
  }
}

async function checkOverFetch(
  { url, send }: AnyService,
  requests: readonly SentRequest[],
  reference: ReferenceStore,
): Promise<void> {
  for (const each of requests) {
    const { method, target, headers } = each;
    const sent = new Request(url + target, { method, headers, body: bytesIn(each) });
    // The constructor of Request normalizes the path.
    const request = { ...each, target: sent.url.slice(url.length) };
    const response = await send(sent);
    const received = Object.fromEntries(response.headers);
    check({ request, status: response.status, headers: received, text: await response.text() }, reference);
  }
}

function bytesIn({ body }: SentRequest): Buffer<ArrayBuffer> | null {
  return body === undefined ? null : Buffer.from(body, 'latin1');
}

interface Exchange {
  readonly request: SentRequest;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Performs a request on the reference store, and compares the response. */
function check({ request, status, headers, text }: Exchange, reference: ReferenceStore): void {
  const { method, target } = request;
  const { json, ...expected } = perform(request, reference);
  const { allow, link } = headers;
  const message = `${method} ${target} got ${text}`;
  assert.deepEqual({ status, allow, link }, { allow: undefined, link: undefined, ...expected }, message);
  assert.ok(!text.includes(secret), text);
  if (text !== '') assert.equal(headers['content-type'], 'application/json');
  if (json === undefined || method === 'HEAD') return;
  const body = JSON.parse(text) as { error: number };
  assert.deepEqual(status < 400 ? body : { error: body.error }, json, message);
}

/** Checks that malformed bytes get no 5xx and no plant of another user, and that the server closes the connection. */
async function checkMalformed(port: number, { bytes, ending }: Malformed): Promise<void> {
  await using cleanUp = new CleanUp();
  const connection = await RawConnection.open(cleanUp, port, bytes);
  if (ending === 'destroys') connection.socket.destroy();
  else connection.socket.end();
  const received = await Promise.race([connection.untilClosed(), sleep(5000, undefined, { ref: false })]);
  assert.ok(received !== undefined, 'The connection stays open.');
  assert.ok(!received.includes(secret), received);
  assert.doesNotMatch(received, /HTTP\/1\.1 5/);
}
