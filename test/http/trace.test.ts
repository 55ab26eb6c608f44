import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { it } from 'node:test';
import type { RequestMessage } from '../../src/http.ts';
import { PlantStore } from '../../src/index.ts';
import type { Call } from '../support/call.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { eventsOf, messagesOf } from '../support/messages.ts';
import { begin, listRequest, post } from '../support/raw-http.ts';
import { createFetchService, fronts, startService } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';

/** `message` consists of the operation, the status, the code, the user, and the path or the beginning of it. */
const cases: readonly (readonly [request: string, call: Call, message: string])[] = [
  ['POST /plants', { body: '{"id":7000,"name":"Fern"}' }, 'createPlant 200 - ada /plants'],
  ['POST /plants', { body: '{"id":7000,"name":"Fern"}' }, 'createPlant 400 id_taken ada /plants'],
  ['HEAD /plants', {}, 'getPlants 200 - ada /plants'],
  ['GET /plants', {}, 'getPlants 200 - ada /plants'],
  ['DELETE /plants/7000', {}, 'deletePlant 204 - ada /plants/{id}'],
  ['GET /plants?limit=1', {}, 'getPlants 200 - ada /plants'],
  ['DELETE /plants/7', { token: 'ada-reads' }, 'deletePlant 403 insufficient_scope ada /plants/{id}'],
  ['GET /plants', { token: 'mallory' }, 'getPlants 401 invalid_token - /plants'],
  ['OPTIONS /plants', {}, '- 204 - - /plants'],
  ['PUT /plants', {}, '- 405 method_not_allowed - /plants'],
  ['GET /garden/v1/1/2?token=secret', {}, '- 404 route_not_found - /garden/v1/1/2'],
  [`GET /;secret/secret;/${'x'.repeat(21)}/4/5`, {}, '- 404 route_not_found - /…/…/…/4'],
];

/** Waits for the next message and removes it. It might be published after the client has received the response. */
async function next(messages: RequestMessage[]): Promise<RequestMessage> {
  await eventuallyEqual(() => messages.length, 1);
  return messages.pop() ?? assert.fail();
}

it('a request message contains the route, the status, the error code and the user', async (t) => {
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  for (const [front, start] of Object.entries(fronts)) {
    const { call, store } = await start(t, { maxInFlight: 1 });
    await createPlants(store, 2500);
    const startMs = performance.now();
    for (const [request, options, expected] of cases) {
      const [method = '', target = ''] = request.split(' ');
      await call(method, target, options);
      const message = await next(messages);
      const client = front === 'fetch' ? undefined : '127.0.0.1';
      assert.partialDeepStrictEqual(message, { method, isComplete: true, client });
      const { operation = '-', status, code = '-', user = '-', path, unmatchedPath = '' } = message;
      assert.equal(`${operation} ${status} ${code} ${user} ${path}${unmatchedPath}`, expected);
      assert.ok(message.durationMs > 0 && message.durationMs < performance.now() - startMs);
    }
  }
});

it('a request message contains the request id and the traceparent of the client if they are valid', async (t) => {
  const { call } = createFetchService(t);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const validIds = ['a', 'x'.repeat(128), "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"];
  const sent: (string | null)[] = [];
  for (const id of [...validIds, '', 'x'.repeat(129), 'a b', 'a"b', 'a\\b', 'café']) {
    sent.push((await call('GET', '/plants', { headers: { 'x-request-id': id } })).headers.get('x-request-id'));
  }
  const known = messages.splice(0).map(({ requestId }) => requestId);
  assert.deepEqual([known, known.slice(0, 3), new Set(known).size], [sent, validIds, 9]);
  for (const id of known.slice(3)) assert.match(id, /^[\w-]{12}-[\da-z]+$/);

  // W3C Trace Context §3.2.
  const ids = '0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7';
  const valid = [`00-${ids}-00`, `01-${ids}-01`, `fe-${ids}-01-more`];
  const allZero = `00-${ids.replace(/^\w+/, '0'.repeat(32))}-01`;
  for (const traceparent of [...valid, '', `ff-${ids}-01`, `00-${ids}-01-more`, `01-${ids}-01more`, allZero]) {
    await call('GET', '/plants', { headers: { traceparent } });
  }
  const traceparents = messages.flatMap(({ traceparent }) => traceparent ?? []);
  assert.deepEqual(traceparents, valid);
});

it('a request message contains the address that the first trusted proxy forwarded, or that of the peer', async (t) => {
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const peer = '127.0.0.1';
  for (const [trustedProxies, forwarded, client] of [
    [0, '192.0.2.1', peer],
    [1, '192.0.2.1,192.0.2.2 ', '192.0.2.2'],
    [2, '192.0.2.1, 2001:db8::1, 192.0.2.3', '2001:db8::1'],
    [3, '192.0.2.1, 192.0.2.2', peer],
    [1, '192.0.2.1:51008', '192.0.2.1'],
    [1, '[2001:db8::1]:443', '2001:db8::1'],
    [1, '[::ffff:192.0.2.1]', '192.0.2.1'],
    [1, '::FFFF:192.0.2.1', '192.0.2.1'],
    [1, undefined, peer],
    [1, '192.0.2.1:x', peer],
  ] as const) {
    const { call } = await startService(t, { trustedProxies });
    await call('GET', '/plants', { headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } });
    const message = await next(messages);
    assert.equal(message.client, client, forwarded);
  }
});

it('a request message is published if the client disconnects before it receives the whole response', async (t) => {
  const service = await startService(t, { maxInFlight: 1 });
  // The buffers of the operating system cannot hold this response. Node.js 22 and 24 report it as complete.
  const json = `["${'x'.repeat(30_000_000)}"]`;
  service.store.listPageJson = () => Promise.resolve({ json, count: 1, lastId: 1n, hasMore: false });
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  for (const [text, expected] of [
    [listRequest, { operation: 'getPlants', status: 200 }],
    [post('{"id":1', 100), { operation: 'createPlant', status: 499, isComplete: false }],
  ] as const) {
    const { connection, response } = await begin(t, service, text, { isPaused: true });
    if (expected.status === 200) await eventuallyEqual(() => response.writableEnded, true);
    connection.socket.destroy();
    assert.partialDeepStrictEqual(await next(messages), { ...expected, code: undefined, user: 'ada' });
  }
  assert.equal((await service.call('DELETE', '/plants/1')).status, 404, 'the permit is free');
  assert.deepEqual(service.faults, []);
});

it('a request message contains the code incomplete and the status if an error ends a list early', async (t) => {
  const storage = new HookedStorage();
  storage.beforeList = (_, { after }) => {
    if (after !== undefined) throw new Error('damaged');
  };
  const options = { store: new PlantStore({ storage }), maxInFlight: 1 };
  await createPlants(options.store, 1001);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  for (const service of [await startService(t, options), createFetchService(t, options)]) {
    await assert.rejects(service.call('GET', '/plants'));
    const message = await next(messages);
    assert.partialDeepStrictEqual(message, { status: 200, code: 'incomplete', isComplete: false });
    assert.equal(service.faults.length, 1);
    assert.equal((await service.call('GET', '/plants?limit=1')).status, 200, 'the permit is free');
    await next(messages);
  }
});

it('the events of a request are those of tracePromise, with error if onError is called', async (t) => {
  const context = new AsyncLocalStorage<unknown>();
  const { start } = tracingChannel<unknown, RequestMessage>('plant-store:request');
  start.bindStore(context);
  t.after(() => start.unbindStore(context));
  const fault = new Error('The identity provider failed');
  let [seen, started]: unknown[] = [];
  const authenticate = (token: string): null => {
    seen = context.getStore();
    started = { ...(seen as RequestMessage) };
    if (token === 'ada') throw fault;
    return null;
  };
  const { call } = createFetchService(t, { authenticate });
  const events = eventsOf(t, 'plant-store:request');
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  await call('GET', '/plants', { token: 'eve' });
  assert.deepEqual(events.splice(0), ['start', 'end', 'asyncStart', 'asyncEnd']);
  await call('DELETE', '/plants/7');
  assert.deepEqual(events, ['start', 'error', 'end', 'asyncStart', 'asyncEnd']);
  const route = { method: 'DELETE', path: '/plants/{id}', operation: 'deletePlant' };
  assert.partialDeepStrictEqual(started, { ...route, status: 0, durationMs: 0, isComplete: false });
  const message = messages.at(-1);
  assert.equal(seen, message, 'authenticate runs in the async context that start has set');
  assert.partialDeepStrictEqual(message, { ...route, status: 500, code: 'internal', user: undefined, error: fault });
});
