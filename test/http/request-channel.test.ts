import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import type { RequestMessage } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { messagesOf } from '../support/messages.ts';
import { head, RawConnection } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';
import type { Call } from '../support/call.ts';

const created = '{"id":7,"name":"Fern"}';

interface Case {
  readonly request: [method: string, target: string, call?: Call];
  readonly message: Pick<RequestMessage, 'path' | 'operation' | 'status' | 'error' | 'user'>;
}

/** In this order, on one service. */
const cases: readonly Case[] = [
  {
    request: ['POST', '/plants', { body: created }],
    message: { path: '/plants', operation: 'createPlant', status: 200, error: undefined, user: 'ada' },
  },
  {
    request: ['POST', '/plants', { body: created }],
    message: { path: '/plants', operation: 'createPlant', status: 400, error: 'id_taken', user: 'ada' },
  },
  {
    request: ['GET', '/plants?limit=1'],
    message: { path: '/plants', operation: 'getPlants', status: 200, error: undefined, user: 'ada' },
  },
  {
    request: ['HEAD', '/plants'],
    message: { path: '/plants', operation: 'getPlants', status: 200, error: undefined, user: 'ada' },
  },
  {
    request: ['GET', '/plants?limit=x'],
    message: { path: '/plants', operation: 'getPlants', status: 400, error: 'invalid_limit', user: 'ada' },
  },
  {
    request: ['DELETE', '/plants/7', { token: 'ada-reads' }],
    message: { path: '/plants/{id}', operation: 'deletePlant', status: 403, error: 'insufficient_scope', user: 'ada' },
  },
  {
    request: ['DELETE', '/plants/7'],
    message: { path: '/plants/{id}', operation: 'deletePlant', status: 204, error: undefined, user: 'ada' },
  },
  {
    request: ['DELETE', '/plants/7'],
    message: { path: '/plants/{id}', operation: 'deletePlant', status: 404, error: 'plant_not_found', user: 'ada' },
  },
  {
    request: ['GET', '/plants', { token: null }],
    message: { path: '/plants', operation: 'getPlants', status: 401, error: 'missing_credentials', user: undefined },
  },
  {
    request: ['GET', '/plants', { token: 'mallory' }],
    message: { path: '/plants', operation: 'getPlants', status: 401, error: 'invalid_token', user: undefined },
  },
  {
    request: ['GET', '/openapi.json', { token: null }],
    message: { path: '/openapi.json', operation: 'getOpenApi', status: 200, error: undefined, user: undefined },
  },
  {
    request: ['OPTIONS', '/plants'],
    message: { path: '/plants', operation: undefined, status: 204, error: undefined, user: undefined },
  },
  {
    request: ['PUT', '/plants'],
    message: { path: '/plants', operation: undefined, status: 405, error: 'method_not_allowed', user: undefined },
  },
  {
    request: ['GET', '/secret?token=secret'],
    message: { path: '', operation: undefined, status: 404, error: 'route_not_found', user: undefined },
  },
];

/** Returns the messages so far when there are `count` of them: a client may get a response before it is published. */
async function received(messages: readonly RequestMessage[], count: number): Promise<readonly RequestMessage[]> {
  await eventually(() => {
    assert.equal(messages.length, count);
  });
  return messages;
}

describe('channel plant-store:request', () => {
  it('receives the route, the status, the error code and the user of each request', async (t) => {
    const { call } = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    for (const { request } of cases) await call(...request);
    const facts = (await received(messages, cases.length)).map(
      ({ method, path, operation, status, error, user, durationMs, isComplete, bytes = 0, client }) => {
        assert.ok(durationMs >= 0 && bytes > 100);
        assert.deepEqual([isComplete, client], [true, '127.0.0.1']);
        return { method, path, operation, status, error, user };
      },
    );
    assert.deepEqual(
      facts,
      cases.map(({ request: [method], message }) => ({ method, ...message })),
    );
  });

  it('receives the ids of the request, of its trace and of its token', async (t) => {
    const authenticate = (): { user: string; tokenId: string } => ({ user: 'ada', tokenId: 'laptop' });
    const { call } = await startService(t, { authenticate });
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const answered = await call('GET', '/plants', { headers: { 'x-request-id': 'order-7', traceparent } });
    assert.equal(answered.headers.get('x-request-id'), 'order-7');
    const [message] = await received(messages, 1);
    assert.deepEqual(
      [message?.requestId, message?.traceId, message?.tokenId],
      ['order-7', '4bf92f3577b34da6a3ce929d0e0e4736', 'laptop'],
    );
  });

  it('receives the address that the trusted proxies have appended', async (t) => {
    const { call } = await startService(t, { trustedProxies: 2 });
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    await call('GET', '/plants', { headers: { 'x-forwarded-for': '192.0.2.1, 192.0.2.2, 192.0.2.3' } });
    const [message] = await received(messages, 1);
    assert.equal(message?.client, '192.0.2.2');
  });

  it('receives how many bytes were sent on the connection', async (t) => {
    const { port } = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const connection = await RawConnection.open(t, port);
    const list = `GET /plants HTTP/1.1\r\n${head}`;
    connection.send(`${list}\r\n${list}Connection: close\r\n\r\n`);
    const sent = await connection.untilClosed();
    const second = sent.indexOf('HTTP/1.1', 1);
    const bytes = (await received(messages, 2)).map((message) => message.bytes);
    assert.deepEqual(bytes, [second, sent.length - second]);
  });

  it('receives a list that the client did not read to its end as incomplete', async (t) => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    const name = 'x'.repeat(10_000);
    await Promise.all(Array.from({ length: 2000 }, (_, id) => store.createPlant('ada', { id, name })));
    const { port } = await startService(t, { store });
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const connection = await RawConnection.open(t, port);
    connection.send(`GET /plants HTTP/1.1\r\n${head}\r\n`);
    await connection.until(/Moss|xxx/);
    connection.socket.destroy();
    const [message] = await received(messages, 1);
    assert.deepEqual([message?.status, message?.isComplete], [200, false]);
  });

  it('receives an unexpected error as internal', async (t) => {
    const authenticate = (): never => {
      throw new Error('The identity provider failed');
    };
    const { call, faults } = await startService(t, { authenticate });
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    await call('GET', '/plants');
    const [message] = await received(messages, 1);
    assert.deepEqual([message?.status, message?.error, message?.user], [500, 'internal', undefined]);
    assert.equal(faults.length, 1);
  });

  it('receives a request without Host as malformed, but not one that node:http refuses', async (t) => {
    const { port } = await startService(t);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    for (const text of ['garbage\r\n\r\n', 'GET /plants HTTP/1.1\r\n\r\n']) {
      const connection = await RawConnection.open(t, port);
      connection.send(text);
      await connection.until(/40009/);
    }
    const [message] = await received(messages, 1);
    assert.deepEqual([message?.path, message?.status, message?.error], ['/plants', 400, 'malformed_request']);
  });
});

describe('header X-Request-Id', () => {
  it('is in each response: the id of the request, or else a new unique id', async (t) => {
    const { call } = await startService(t);
    const idOf = async (method: string, target: string, sent?: string): Promise<string> => {
      const headers: Record<string, string> = sent === undefined ? {} : { 'x-request-id': sent };
      return (await call(method, target, { headers })).headers.get('x-request-id') ?? '';
    };
    const usable = ['a', 'x'.repeat(128), "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"];
    for (const id of usable) assert.equal(await idOf('GET', '/nowhere', id), id);
    const ownId = /^[\w-]{12}-[\da-z]+$/;
    const unusable = ['', 'x'.repeat(129), 'a b', 'a"b', 'a\\b', 'café'];
    const made = await Promise.all(unusable.map((id) => idOf('GET', '/plants', id)));
    for (const [method, target] of [
      ['GET', '/nowhere'],
      ['PUT', '/plants'],
      ['OPTIONS', '/plants'],
      ['DELETE', '/plants/1'],
      ['HEAD', '/openapi.json'],
    ] as const) {
      made.push(await idOf(method, target));
    }
    for (const id of made) assert.match(id, ownId);
    assert.equal(new Set(made).size, made.length);
  });
});
