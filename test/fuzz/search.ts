import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client } from 'undici';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { RawConnection } from '../support/raw-http.ts';
import { ReferenceStore } from '../../src/testing/reference-store.ts';
import { countConnections, createFetchService, startService } from '../support/service.ts';
import type { AnyService } from '../support/service.ts';
import { CleanUp, temporaryFolder } from '../support/temporary-folder.ts';
import { perform } from './expectation.ts';
import { malformedWith } from './malformed.ts';
import { requestWith } from './requests.ts';
import type { SentRequest } from './requests.ts';

/** No client has a token of this user. The names of the user's plants must not be in any response. */
const stranger = 'zoe';
const secret = 'nobody-may-see-this';

/** The malformed bytes have another user, so that the order of ada's requests is known. */
const correct = fc.array(requestWith(['ada', 'ada', 'ada-reads', 'ada-writes']), { maxLength: 6 });
const malformed = fc.option(malformedWith(['eve']));

/**
 * Checks for at least `ms` milliseconds that a service over node:http with SqliteStorage and a service over fetch with
 * MemoryStorage behave as specified, whatever clients send. Returns the number of cases. Rejects with a report on the
 * first failed case after reducing it to a minimal case. With a `path`, checks only the cases from this path on.
 */
export async function search(ms: number, seed: number, path: string): Promise<number> {
  await using cleanUp = new CleanUp();
  const file = join(await temporaryFolder(cleanUp), 'plants.db');
  const node = await startService(cleanUp, { storage: new SqliteStorage(file) });
  // With these settings, the server closes a connection only because its client has ended it.
  Object.assign(node.server, { headersTimeout: 0, requestTimeout: 0 });
  const fetch = createFetchService(cleanUp);
  for (const { store } of [node, fetch]) await store.createPlant(stranger, { id: 1, name: secret });
  let cases = 0;
  const property = fc.asyncProperty(correct, malformed, async (requests, bytes) => {
    cases++;
    // One after the other, so that nothing of a failed case is still in progress when fast-check tries the next one.
    await checkStore(fetch, (reference) => checkOverFetch(fetch, requests, reference));
    await checkStore(node, (reference) =>
      Promise.all([checkOverHttp(node.url, requests, reference), bytes && checkMalformed(node.port, bytes)]),
    );
    await eventuallyEqual(() => countConnections(node.server), 0);
  });
  const endMs = performance.now() + ms;
  // fast-check's own time limit would reject if no case finished in time.
  do await fc.assert(property, { seed: seed++, path, numRuns: 25 });
  while (path === '' && performance.now() < endMs);
  return cases;
}

/** Empties a service's store, sends requests, and compares the plants with those of a reference store. */
async function checkStore({ store, faults }: AnyService, send: (reference: ReferenceStore) => unknown): Promise<void> {
  for (const user of ['ada', 'eve']) {
    const plants = await store.listPlants(user);
    await Promise.all(plants.map(({ id }) => store.deletePlant(user, id)));
  }
  const reference = new ReferenceStore();
  await send(reference);
  assert.deepEqual(await store.listPlants('ada'), reference.list('ada'));
  assert.deepEqual(await store.listPlants(stranger), [{ id: 1n, name: secret }]);
  assert.deepEqual(faults, []);
}

/** Pipelines the requests on one connection. */
async function checkOverHttp(url: string, requests: readonly SentRequest[], reference: ReferenceStore): Promise<void> {
  const client = new Client(url, { pipelining: 4 });
  const exchanges = requests.map(async (request): Promise<Received> => {
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

interface Received {
  readonly request: SentRequest;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Performs a request on the reference store, and compares the response. */
function check({ request, status, headers, text }: Received, reference: ReferenceStore): void {
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
async function checkMalformed(port: number, bytes: string): Promise<void> {
  await using cleanUp = new CleanUp();
  const connection = await RawConnection.open(cleanUp, port, bytes);
  connection.socket.end();
  const received = await Promise.race([connection.untilClosed(), sleep(20_000, undefined, { ref: false })]);
  assert.ok(received !== undefined, 'The connection stays open.');
  assert.ok(!received.includes(secret), received);
  assert.doesNotMatch(received, /HTTP\/1\.1 5/);
}
