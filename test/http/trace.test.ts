import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { it } from 'node:test';
import type { RequestMessage } from '../../src/http.ts';
import { PlantStore } from '../../src/index.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { HookedStorage } from '../support/hooked-storage.ts';
import { eventsOf, messagesOf } from '../support/messages.ts';
import { begin, listRequest, post, RawConnection } from '../support/raw-http.ts';
import { createFetchService, startService } from '../support/service.ts';
import { createLongList, createPlants } from '../support/stored-plants.ts';
import type { Call } from '../support/call.ts';

/** A message is the operation, the status, the code, the user and the path, or the beginning of an unknown path. */
const cases: readonly (Call & { method: string; target: string; message: string })[] = [
  { method: 'POST', target: '/plants', body: '{"id":7,"name":"Fern"}', message: 'createPlant 200 - ada /plants' },
  { method: 'HEAD', target: '/plants', message: 'getPlants 200 - ada /plants' },
  {
    method: 'DELETE',
    target: '/plants/7',
    token: 'ada-reads',
    message: 'deletePlant 403 insufficient_scope ada /plants/{id}',
  },
  { method: 'DELETE', target: '/plants/8', message: 'deletePlant 404 plant_not_found ada /plants/{id}' },
  { method: 'GET', target: '/plants', token: 'mallory', message: 'getPlants 401 invalid_token - /plants' },
  { method: 'OPTIONS', target: '/plants', message: '- 204 - - /plants' },
  { method: 'PUT', target: '/plants', message: '- 405 method_not_allowed - /plants' },
  { method: 'GET', target: '/garden/v1/1/2?token=secret', message: '- 404 route_not_found - /garden/v1/1/2' },
  { method: 'GET', target: `/;secret/secret;/${'x'.repeat(21)}/4/5`, message: '- 404 route_not_found - /…/…/…/4' },
];

/** Waits for the next message and removes it. It might be published after the client has received the response. */
async function next(messages: RequestMessage[]): Promise<RequestMessage> {
  await eventuallyEqual(() => messages.length, 1);
  return messages.pop() ?? assert.fail();
}

it('a request message contains the route, the status, the error code and the user', async (t) => {
  const { call } = await startService(t);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const startMs = performance.now();
  for (const { method, target, message: expected, ...options } of cases) {
    await call(method, target, options);
    const message = await next(messages);
    assert.partialDeepStrictEqual(message, { method, isComplete: true, client: '127.0.0.1' });
    const { operation = '-', status, code = '-', user = '-', path, unmatchedPath = '' } = message;
    assert.equal(`${operation} ${status} ${code} ${user} ${path}${unmatchedPath}`, expected);
    assert.ok(message.durationMs > 0 && message.durationMs < performance.now() - startMs);
  }
});

it('a request message contains the request id that the client sent if it is valid, or a unique id', async (t) => {
  const { call } = createFetchService(t);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const send = async (id: string): Promise<string> =>
    (await call('GET', '/plants', { headers: { 'x-request-id': id } })).headers.get('x-request-id') ?? '';
  for (const id of ['a', 'x'.repeat(128), "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"]) assert.equal(await send(id), id);
  const made = new Set<string>();
  for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'a\\b', 'café']) made.add(await send(id));
  assert.equal(made.size, 6);
  for (const id of made) assert.match(id, /^[\w-]{12}-[\da-z]+$/);
  assert.deepEqual(
    messages.slice(3).map(({ requestId }) => requestId),
    [...made],
  );
});

it('a request message contains the traceparent that the client sent if it is valid', async (t) => {
  const { call } = createFetchService(t);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  // W3C Trace Context §3.2.
  const ids = '0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7';
  const valid = [`00-${ids}-00`, `01-${ids}-01`, `fe-${ids}-01-more`];
  const allZero = `00-${ids.replace(/^\w+/, '0'.repeat(32))}-01`;
  for (const traceparent of [...valid, '', `ff-${ids}-01`, `00-${ids}-01-more`, `01-${ids}-01more`, allZero]) {
    await call('GET', '/plants', { headers: { traceparent } });
  }
  assert.deepEqual(
    messages.flatMap(({ traceparent }) => traceparent ?? []),
    valid,
  );
});

it('a request message contains the Nth address from the right for N trusted proxies, or the peer’s', async (t) => {
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const peer = '127.0.0.1';
  const forwarded = [
    { trustedProxies: 0, forwardedFor: '192.0.2.1', client: peer },
    { trustedProxies: 1, forwardedFor: '192.0.2.1,192.0.2.2 ', client: '192.0.2.2' },
    { trustedProxies: 2, forwardedFor: '192.0.2.1, 2001:db8::1, 192.0.2.3', client: '2001:db8::1' },
    { trustedProxies: 3, forwardedFor: '192.0.2.1, 192.0.2.2', client: peer },
    { trustedProxies: 1, forwardedFor: '192.0.2.1:51008', client: '192.0.2.1' },
    { trustedProxies: 1, forwardedFor: '[2001:db8::1]:443', client: '2001:db8::1' },
    { trustedProxies: 1, forwardedFor: '[::ffff:192.0.2.1]', client: '192.0.2.1' },
    { trustedProxies: 1, forwardedFor: '::FFFF:192.0.2.1', client: '192.0.2.1' },
    { trustedProxies: 1, forwardedFor: undefined, client: peer },
    { trustedProxies: 1, forwardedFor: '192.0.2.1:x', client: peer },
  ];
  for (const { trustedProxies, forwardedFor, client } of forwarded) {
    const { call } = await startService(t, { trustedProxies });
    await call('GET', '/plants', {
      headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    });
    const message = await next(messages);
    assert.equal(message.client, client, forwardedFor);
  }
});

it('a request message contains isComplete: false if the client disconnects before the end of a list', async (t) => {
  const { port, store } = await startService(t);
  await createLongList(store);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const connection = await RawConnection.open(t, port, listRequest);
  await connection.until(/xxx/);
  connection.socket.destroy();
  const message = await next(messages);
  assert.partialDeepStrictEqual(message, { status: 200, code: undefined, isComplete: false });
});

it('a request message contains the code incomplete and the status if an error ends a list early', async (t) => {
  const storage = new HookedStorage();
  storage.beforeList = (_, { after }) => {
    if (after !== undefined) throw new Error('damaged');
  };
  const store = new PlantStore({ storage });
  const options = { store, maxInFlight: 1 };
  await createPlants(store, 1001);
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

it('a request message contains the status 499 and no code if the client disconnects during an upload', async (t) => {
  const service = await startService(t);
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const { connection } = await begin(t, service, post('{"id":1', 100));
  connection.socket.destroy();
  const message = await next(messages);
  const expected = { operation: 'createPlant', status: 499, code: undefined, user: 'ada', isComplete: false };
  assert.partialDeepStrictEqual(message, expected);
  assert.deepEqual(service.faults, []);
});

it('the events of a request are those of tracePromise, with error if onError is called', async (t) => {
  const context = new AsyncLocalStorage<unknown>();
  const { start } = tracingChannel<unknown, RequestMessage>('plant-store:request');
  let started: unknown;
  start.bindStore(context, (message) => {
    started = { ...message };
    return message;
  });
  t.after(() => start.unbindStore(context));
  const fault = new Error('The identity provider failed');
  let seen: unknown;
  const authenticate = (token: string): null => {
    seen = context.getStore();
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
