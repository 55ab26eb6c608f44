import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { describe, it } from 'node:test';
import type { RequestMessage } from '../../src/http.ts';
import { MemoryStorage } from '../../src/index.ts';
import type { ListRange } from '../../src/index.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { eventsOf, messagesOf } from '../support/messages.ts';
import { begin, listRequest, post, RawConnection } from '../support/raw-http.ts';
import { createFetchService, startService } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
import type { Call } from '../support/call.ts';

/**
 * A request and the expected content of its message: the operation, the status, the error code, the user and the path,
 * or the first segments of an unknown path.
 */
const cases: readonly [method: string, target: string, call: Call, message: string][] = [
  ['POST', '/plants', { body: '{"id":7,"name":"Fern"}' }, 'createPlant 200 - ada /plants'],
  ['HEAD', '/plants', {}, 'getPlants 200 - ada /plants'],
  ['DELETE', '/plants/7', { token: 'ada-reads' }, 'deletePlant 403 insufficient_scope ada /plants/{id}'],
  ['DELETE', '/plants/8', {}, 'deletePlant 404 plant_not_found ada /plants/{id}'],
  ['GET', '/plants', { token: 'mallory' }, 'getPlants 401 invalid_token - /plants'],
  ['OPTIONS', '/plants', {}, '- 204 - - /plants'],
  ['PUT', '/plants', {}, '- 405 method_not_allowed - /plants'],
  ['GET', '/garden/v1/plants/1/leaves?token=secret', {}, '- 404 route_not_found - /garden/v1/plants/1'],
  ['GET', `/;secret/secret;/${'x'.repeat(21)}`, {}, '- 404 route_not_found - /…/…/…'],
];

/**
 * Waits for `count` messages and returns them. A message might be published after the client has received the response.
 */
async function received(messages: readonly RequestMessage[], count: number): Promise<readonly RequestMessage[]> {
  await eventuallyEqual(() => messages.length, count);
  return messages;
}

describe('tracing channel plant-store:request', () => {
  it('receives the route, the status, the error code and the user of each request', async (t) => {
    const { call } = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const startMs = performance.now();
    for (const [method, target, options] of cases) await call(method, target, options);
    for (const [n, message] of (await received(messages, cases.length)).entries()) {
      const { operation = '-', status, code = '-', user = '-', durationMs, bytes = 0 } = message;
      const path = message.path + (message.unmatchedPath ?? '');
      assert.ok(durationMs > 0 && durationMs < performance.now() - startMs && bytes > 100);
      assert.deepEqual([message.isComplete, message.client], [true, '127.0.0.1']);
      const [method, , , expected] = cases[n] ?? assert.fail();
      assert.deepEqual([message.method, `${operation} ${status} ${code} ${user} ${path}`], [method, expected]);
    }
  });

  it('receives the request id and the traceparent that the client sent, if they are valid', async (t) => {
    const { call } = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const send = async (headers: Record<string, string>): Promise<string> =>
      (await call('GET', '/plants', { headers })).headers.get('x-request-id') ?? '';
    for (const id of ['a', 'x'.repeat(128), "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"]) {
      assert.equal(await send({ 'x-request-id': id }), id);
    }
    const made = new Set<string>();
    for (const id of ['', 'x'.repeat(129), 'a b', 'a"b', 'a\\b', 'café']) made.add(await send({ 'x-request-id': id }));
    assert.equal(made.size, 6);
    for (const id of made) assert.match(id, /^[\w-]{12}-[\da-z]+$/);
    assert.deepEqual(
      (await received(messages, 9)).slice(3).map(({ requestId }) => requestId),
      [...made],
    );

    // W3C Trace Context §3.2.
    const ids = '0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7';
    const valid = [`00-${ids}-00`, `01-${ids}-01`, `fe-${ids}-01-more`];
    const invalid = [
      '',
      `ff-${ids}-01`,
      `00-${ids}-01-more`,
      `01-${ids}-01more`,
      `00-${ids.replace(/^\w+/, '0'.repeat(32))}-01`,
    ];
    messages.length = 0;
    for (const traceparent of [...valid, ...invalid]) await send({ traceparent });
    const seen = (await received(messages, 8)).flatMap(({ traceparent }) => traceparent ?? []);
    assert.deepEqual(seen, valid);
  });

  it('receives the Nth address from the right for N trusted proxies, or the address of the connection', async (t) => {
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const forwarded: [trustedProxies: number, forwardedFor: string, client: string][] = [
      [0, '192.0.2.1', '127.0.0.1'],
      [1, '192.0.2.1,192.0.2.2 ', '192.0.2.2'],
      [2, '192.0.2.1, 2001:db8::1, 192.0.2.3', '2001:db8::1'],
      [3, '192.0.2.1, 192.0.2.2', '127.0.0.1'],
      [1, '192.0.2.1:51008', '192.0.2.1'],
      [1, '[2001:db8::1]:443', '2001:db8::1'],
      [1, '[2001:db8::1]', '2001:db8::1'],
      [1, '192.0.2.1:x', '127.0.0.1'],
      [1, '', '127.0.0.1'],
    ];
    for (const [n, [trustedProxies, forwardedFor, client]] of forwarded.entries()) {
      const { call } = await startService(t, { trustedProxies });
      await call('GET', '/plants', { headers: forwardedFor === '' ? {} : { 'x-forwarded-for': forwardedFor } });
      assert.equal((await received(messages, n + 1)).at(-1)?.client, client, forwardedFor);
    }
  });

  it('receives isComplete: false for a list if the client disconnects before its end', async (t) => {
    const { port, store } = await startService(t);
    await createPlants(store, 2000, 'x'.repeat(10_000));
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const connection = await RawConnection.open(t, port, listRequest);
    await connection.until(/xxx/);
    connection.socket.destroy();
    const [message] = await received(messages, 1);
    assert.deepEqual([message?.status, message?.isComplete], [200, false]);
  });

  it('receives the code incomplete and the status of the response if an error ends a list early', async (t) => {
    const storage = new MemoryStorage();
    const service = await startService(t, { storage });
    await createPlants(service.store, 1001);
    const list = storage.list.bind(storage);
    t.mock.method(storage, 'list', (user: string, range: ListRange) =>
      range.after === undefined ? list(user, range) : Promise.reject(new Error('damaged')),
    );
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    await assert.rejects(service.call('GET', '/plants'));
    const fetchService = createFetchService(t, { store: service.store });
    await assert.rejects(fetchService.call('GET', '/plants'));
    const seen = (await received(messages, 2)).map(({ status, code, isComplete }) => [status, code, isComplete]);
    assert.deepEqual(seen, [
      [200, 'incomplete', false],
      [200, 'incomplete', false],
    ]);
    assert.deepEqual([service.faults.length, fetchService.faults.length], [1, 1]);
  });

  it('receives status 499 and no error code if the client disconnects during an upload', async (t) => {
    const service = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const { connection } = await begin(t, service, post('{"id":1', 100));
    connection.socket.destroy();
    const [message] = await received(messages, 1);
    assert.deepEqual(
      [message?.operation, message?.status, message?.code, message?.user, message?.isComplete],
      ['createPlant', 499, undefined, 'ada', false],
    );
    assert.deepEqual(service.faults, []);
  });
});

describe('events of a request', () => {
  const bad = 'GET /plants HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n';

  it('are those of tracePromise, including error if onError is called', async (t) => {
    const authenticate = (): never => {
      throw new Error('The identity provider failed');
    };
    const { call, port, faults } = await startService(t, { authenticate });
    const events = eventsOf(t, 'plant-store:request');
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    for (const [send, expected] of [
      [async () => (await RawConnection.open(t, port, bad)).until(/40009/), ['start', 'end', 'asyncStart', 'asyncEnd']],
      [() => call('GET', '/plants'), ['start', 'error', 'end', 'asyncStart', 'asyncEnd']],
    ] as const) {
      await send();
      await eventuallyEqual(() => events.length, expected.length);
      assert.deepEqual(events.splice(0), expected);
    }
    const { status, code, user, error } = messages.at(-1) ?? assert.fail();
    assert.deepEqual([status, code, user, [error]], [500, 'internal', undefined, faults]);
  });

  it('share a message that contains the route at the start event, and set the async context of authenticate', async (t) => {
    const context = new AsyncLocalStorage<unknown>();
    const { start } = tracingChannel<unknown, RequestMessage>('plant-store:request');
    let started: unknown;
    start.bindStore(context, (message) => {
      started = { ...message };
      return message;
    });
    t.after(() => start.unbindStore(context));
    let seen: unknown;
    const { call } = await startService(t, {
      authenticate: () => {
        seen = context.getStore();
        return { user: 'ada' };
      },
    });
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    await call('DELETE', '/plants/7');
    const [message] = await received(messages, 1);
    const route = { method: 'DELETE', path: '/plants/{id}', operation: 'deletePlant' };
    assert.partialDeepStrictEqual(started, { ...route, status: 0, durationMs: 0, isComplete: false });
    assert.deepEqual([seen === message, message?.status], [true, 404]);
  });
});
