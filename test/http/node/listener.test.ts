import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { RequestListener } from 'node:http';
import { Socket } from 'node:net';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express from 'express';
import type { RequestMessage } from '../../../src/http.ts';
import { errorOf } from '../../support/call.ts';
import { eventuallyEqual, untilStill } from '../../support/eventually.ts';
import { HookedStorage } from '../../support/hooked-storage.ts';
import { listen, listenUrl } from '../../support/listen.ts';
import { messagesOf } from '../../support/messages.ts';
import { begin, listRequest, post as postText, RawConnection } from '../../support/raw-http.ts';
import { createListener, startService } from '../../support/service.ts';
import { createLongList, createPlants } from '../../support/stored-plants.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const authorization = 'Bearer ada';
const headers = { authorization, 'content-type': 'application/json' };

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

const serve = (t: HasAfter, listener: RequestListener): Promise<string> => listenUrl(t, createServer(listener));

it('the listener reads request.rawBody after a body parser, or responds with 500 if it is missing', async (t) => {
  const { listener, store, faults } = createListener(t, { maxBodyBytes: 40 });
  // Google Cloud Functions and Firebase set `rawBody` in the same way.
  const verify = (request: object, _: unknown, rawBody: Buffer): unknown => Object.assign(request, { rawBody });
  const app = express().use('/raw', express.json({ verify }), listener).use('/parsed', express.json(), listener);
  const url = await serve(t, app);
  const body = '{"id":9007199254740993,"name":"Fern"}';
  for (const { path, sent, error } of [
    { path: '/raw', sent: body },
    { path: '/raw', sent: body.padEnd(41), error: 40008 },
    { path: '/parsed', sent: body, error: 50000 },
  ]) {
    const chunked = { method: 'POST', headers, body: new Blob([sent]).stream(), duplex: 'half' } as const;
    assert.equal(errorOf(await (await fetch(`${url}${path}/plants`, chunked)).json()), error);
  }
  assert.match(faults.join(), /^Error: [^,]*before any body parser\.$/);
  assert.deepEqual(await store.listPlants('ada'), [{ id: 9007199254740993n, name: 'Fern' }]);
  const list = await fetch(`${url}/parsed/plants`, { headers });
  assert.equal(list.status, 200, 'a request without a body still works');
});

it('the listener in Express passes on unknown paths, and does nothing if a response was already sent', async (t) => {
  const { listener, store, faults } = createListener(t);
  const app = express();
  app.use('/late', (_, response, next) => void response.end('"late"', () => setImmediate(next)));
  app.use(['/late', '/garden'], listener);
  app.use((request, response) => void request.pipe(response.status(404).append('X-Path', request.url)));
  const url = await serve(t, app);
  for (let id = 0; id < 3; id++) {
    assert.equal(await (await post(`${url}/late/plants`, { id, name: 'Fern' })).json(), 'late');
  }
  for (const path of ['/garden/', '/garden/plantsx', '/garden/plants/1/2', '/plants?limit=1']) {
    const response = await post(url + path, { hello: 'there' });
    assert.deepEqual([response.status, response.headers.get('x-path')], [404, path]);
    assert.deepEqual(await response.json(), { hello: 'there' });
  }
  assert.equal(errorOf(await (await fetch(`${url}/garden/plants/1`)).json()), 40500);
  assert.deepEqual([await store.listPlants('ada'), faults], [[], []]);
});

/**
 * Creates a request and a response as test doubles and serverless adapters do: the request has no socket, no raw
 * headers and no version, and the response emits no events. Also returns the chunks that were written.
 */
function createDoubles(): { request: IncomingMessage; response: ServerResponse; chunks: unknown[] } {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  const missing = { socket: undefined, rawHeaders: undefined, httpVersion: undefined };
  Object.assign(request, { ...missing, method: 'GET', url: '/plants', headers, complete: true });
  const chunks: unknown[] = [];
  Object.assign(response, {
    on: () => undefined,
    write: (chunk: unknown) => void chunks.push(chunk),
    end: (chunk: unknown = '') => {
      chunks.push(chunk);
      Object.defineProperty(response, 'writableFinished', { value: true });
    },
  });
  return { request, response, chunks };
}

it('the listener sends lists to test doubles, and reports a request or response with invalid members', async (t) => {
  const { listener, store, faults } = createListener(t, { maxInFlight: 1 });
  await createPlants(store, 2500);
  for (const broken of [{ url: 7 }, { writeHead: 7 }]) {
    const { request, response } = createDoubles();
    Object.assign('url' in broken ? request : response, broken);
    await listener(request, response);
    assert.deepEqual([response.destroyed, faults.splice(0).length], [true, 1]);
  }
  await (listener as unknown as (request: Request) => Promise<void>)(new Request('http://x/plants', { headers }));
  assert.match(faults.splice(0).join(), /^TypeError: .* requires a node:http request .*createFetchHandler/);
  // Each of these requests needs the only permit.
  for (let n = 0; n < 2; n++) {
    const { request, response, chunks } = createDoubles();
    await listener(request, response);
    assert.equal((JSON.parse(chunks.map(String).join('')) as unknown[]).length, 2500);
  }
  assert.deepEqual(faults, []);
});

it('the listener refuses a request without a socket whose body is cut off', async (t) => {
  const { listener, store } = createListener(t);
  const { request, response, chunks } = createDoubles();
  Object.assign(request, { method: 'POST' });
  request.push('{"id":1,"name":"Fern"}');
  const handled = listener(request, response);
  await nextTurn();
  request.destroy();
  await handled;
  assert.equal(errorOf(JSON.parse(chunks.map(String).join(''))), 40009);
  assert.deepEqual(await store.listPlants('ada'), []);
});

it('a long list waits for a client that does not read, and stops when the client disconnects', async (t) => {
  const storage = new HookedStorage();
  const service = await startService(t, { storage, maxInFlight: 1 });
  await createLongList(service.store);
  let reads = 0;
  storage.beforeList = () => reads++;
  await service.call('HEAD', '/plants');
  assert.ok(reads < 2, 'HEAD reads only the first page');
  reads = 0;
  const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
  const { connection, response } = await begin(t, service, listRequest, { isPaused: true });
  await eventuallyEqual(() => reads > 0, true);
  await untilStill(() => reads);
  assert.ok(reads < 40, `${reads} of 160 pages were read for a client that does not read`);
  assert.equal((await service.call('GET', '/plants?limit=0')).error, 50300);
  const before = reads;
  connection.socket.destroy();
  await eventuallyEqual(() => response.closed, true);
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  assert.deepEqual([reads, service.faults], [before, []]);
  assert.partialDeepStrictEqual(messages.at(-1), { status: 200, code: undefined, isComplete: false });
  assert.equal((await service.call('GET', '/plants?limit=0')).status, 200, 'the permit is free');
});

/** What frameworks set when they have removed a prefix from `url`. `linked` is the expected prefix of links. */
const mounts: readonly {
  originalUrl: (url: string) => string;
  baseUrl?: string;
  basePath?: string;
  linked?: string;
}[] = [
  { originalUrl: (url) => `/garden${url}` },
  { originalUrl: (url) => `/garden${url}`, baseUrl: '/garden' },
  // An inner app sets its own prefix.
  { originalUrl: (url) => `/garden${url}`, baseUrl: '/den' },
  // A middleware has changed the path, or the query.
  { originalUrl: () => '/old', baseUrl: '/garden' },
  { originalUrl: (url) => `http://x/garden${url.replace(/\?.*/, '')}` },
  { originalUrl: (url) => `/inner${url}`, baseUrl: '/inner', basePath: '/garden' },
  // A link must not contain a prefix that is not a path.
  { originalUrl: (url) => `//evil${url}`, linked: '' },
  { originalUrl: (url) => `/a>;rel="x",</b${url}`, linked: '' },
];

it('Link and the OpenAPI document contain the prefix once, however a framework removes it', async (t) => {
  for (const { originalUrl, baseUrl, basePath, linked = '/garden' } of mounts) {
    const { listener, store } = createListener(t, { basePath });
    await createPlants(store, 2);
    const url = await serve(t, (request, response) => {
      const inner = (request.url ?? '').replace('/garden', '');
      void listener(Object.assign(request, { url: inner, originalUrl: originalUrl(inner), baseUrl }), response);
    });
    const page = await fetch(`${url}/garden/plants?limit=1`, { headers });
    assert.equal(page.headers.get('link'), `<${linked}/plants?limit=1&after=0>; rel="next"`);
    const document = (await (await fetch(`${url}/garden/openapi.json?a=b`)).json()) as { servers: unknown };
    assert.deepEqual(document.servers, [{ url: linked || '/' }]);
  }
});

it('the listener creates no plant if the rest of the body arrives after the response to a timeout', async (t) => {
  const { listener, store } = createListener(t);
  const limits = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 };
  const server = createServer(limits, (message, response) => void listener(message, response));
  server.on('clientError', (_, socket) => socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n'));
  const port = await listen(t, server);
  const text = postText('{"id":7,"name":"Fern"}');
  const finished = once(server, 'request').then(([message]) => once(message as IncomingMessage, 'end'));
  const connection = await RawConnection.open(t, port, text.slice(0, -5), true);
  await connection.until(/408/);
  connection.send(text.slice(-5));
  await finished;
  await nextTurn();
  assert.deepEqual(await store.listPlants('ada'), []);
});
