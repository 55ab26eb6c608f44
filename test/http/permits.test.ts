import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Authenticate } from '../../src/http.ts';
import { Permits } from '../../src/http/service.ts';
import { outcome } from '../support/call.ts';
import type { Answered, Call } from '../support/call.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { Hold, HookedStorage } from '../support/hooked-storage.ts';
import { begin, post } from '../support/raw-http.ts';
import { authenticateByName, createFetchService, fronts, startService } from '../support/service.ts';
import type { AnyService } from '../support/service.ts';
import { createLongList, createPlants } from '../support/stored-plants.ts';

const headers = { authorization: 'Bearer ada' };

/** Sends a request that needs a permit, but not the storage. */
const listNothing = (service: AnyService, token: string): Promise<Answered> =>
  service.call('GET', '/plants?limit=0', { token });

/** Waits until the only permit is free. */
async function untilFree(service: AnyService): Promise<void> {
  await eventuallyEqual(async () => (await listNothing(service, 'bob')).status, 200);
}

function assertSaturated(answered: Answered): void {
  assert.deepEqual([...outcome(answered), answered.headers.get('retry-after')], [503, 50300, '1']);
}

/** Requests that return their permit before the client has received the whole response. */
const requests: readonly (readonly [request: string, status: number, call?: Call])[] = [
  ['POST /plants', 200, { body: '{"id":5000,"name":"Fern"}' }],
  ['POST /plants', 400, { body: '{"id":5000,"name":"Fern"}' }],
  ['POST /plants', 400, { body: 'x'.repeat(70_000) }],
  ['DELETE /plants/5000', 204],
  ['GET /plants?limit=10', 200],
  ['GET /plants', 200],
  ['HEAD /plants', 200],
  ['GET /plants', 401, { token: 'unknown' }],
];

it('a user who returns one of several permits still holds the others', () => {
  const permits = new Permits(5);
  const take = (): boolean => permits.take('ada');
  assert.deepEqual([take(), take(), take(), take()], [true, true, true, false]);
  permits.release('ada');
  assert.deepEqual([take(), take()], [true, false]);
});

it('maxInFlight refuses a user’s third request after a second, and serves others meanwhile', async (t) => {
  for (const start of Object.values(fronts)) {
    const held = new Hold();
    const storage = new HookedStorage();
    storage.beforeList = held.hook;
    let calls = 0;
    const authenticate: Authenticate = (token) => {
      calls++;
      return authenticateByName(token);
    };
    const service = await start(t, { storage, authenticate, maxInFlight: 3 });
    const list = (): Promise<Answered> => service.call('GET', '/plants');
    const lists = [list(), list()];
    await eventuallyEqual(() => calls, 2);
    const startMs = performance.now();
    const refused = listNothing(service, 'ada');
    assert.equal((await listNothing(service, 'bob')).status, 200);
    assertSaturated(await refused);
    assert.ok(performance.now() - startMs > 990);
    held.release();
    for (const { status } of await Promise.all(lists)) assert.equal(status, 200);
    for (const { status } of await Promise.all([list(), list()])) assert.equal(status, 200);
    assert.deepEqual(service.faults, [], 'saturation is not reported');
  }
});

it('maxInFlight does not count requests whose whole response has been sent', async (t) => {
  for (const start of Object.values(fronts)) {
    const service = await start(t, { maxInFlight: 1 });
    await createPlants(service.store, 2500);
    for (const [request, status, call] of requests) {
      // The second request would be refused if the first one still held its permit.
      const [method = '', target = ''] = request.split(' ');
      assert.equal((await service.call(method, target, call)).status, status, request);
      assert.equal((await listNothing(service, 'bob')).status, 200, `after ${request}: ${status}`);
    }
  }
});

it('maxInFlight counts lists until their client has disconnected', async (t) => {
  for (const start of Object.values(fronts)) {
    const service = await start(t, { maxInFlight: 1 });
    await createLongList(service.store);
    const response = await service.send(new Request(`${service.url}/plants`, { headers }));
    assertSaturated(await listNothing(service, 'bob'));
    await response.body?.cancel();
    await untilFree(service);
    assert.deepEqual(service.faults, []);
  }
});

it('maxInFlight counts an upload until its client has disconnected', async (t) => {
  const service = await startService(t, { maxInFlight: 1 });
  const { connection } = await begin(t, service, post('{"id":1', 100));
  assertSaturated(await listNothing(service, 'bob'));
  connection.socket.destroy();
  await untilFree(service);
  assert.deepEqual(service.faults, []);
});

it('maxInFlight is 1000 by default', async (t) => {
  const [storage, held] = [new HookedStorage(), new Hold()];
  storage.beforeList = held.hook;
  const { call } = createFetchService(t, { storage, authenticate: (user) => ({ user }) });
  const lists = Array.from({ length: 1001 }, (_, n) => call('GET', '/plants', { token: `user-${n}` }));
  await nextTurn();
  held.release();
  const statuses = (await Promise.all(lists)).map(({ status }) => status);
  assert.deepEqual(statuses, [...Array<number>(1000).fill(200), 503]);
});
