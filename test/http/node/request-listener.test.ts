import assert from 'node:assert/strict';
import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import express from 'express';
import { listenUrl } from '../../support/listen.ts';
import { createListener } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const authorization = 'Bearer ada';
const jsonHeaders = { authorization, 'content-type': 'application/json' };

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) });
}

async function assertError(response: Response, status: number, error: number): Promise<void> {
  assert.equal(response.status, status);
  assert.equal(response.headers.get('content-type'), 'application/json');
  const { message, ...body } = (await response.json()) as Record<string, unknown>;
  assert.deepEqual([body, typeof message], [{ error }, 'string']);
}

/** Asserts that all operations work under the prefix with which `base` ends, and that `Link` contains it. */
async function assertService(base: string, prefix: string): Promise<void> {
  for (const [index, name] of ['Fern', 'Moss', 'Ivy'].entries()) {
    const created = await post(`${base}/plants`, { id: index + 1, name });
    assert.deepEqual([created.status, await created.json()], [200, { name }]);
  }
  const first = await fetch(`${base}/plants?limit=1`, { headers: { authorization } });
  assert.equal(first.headers.get('link'), `<${prefix}/plants?limit=1&after=1>; rel="next"`);
  assert.deepEqual(await first.json(), [{ name: 'Fern' }]);
  const [, target = ''] = /^<(.*)>/.exec(first.headers.get('link') ?? '') ?? [];
  const second = await fetch(new URL(target, base), { headers: { authorization } });
  assert.deepEqual(await second.json(), [{ name: 'Moss' }]);

  const deleted = await fetch(`${base}/plants/2`, { method: 'DELETE', headers: { authorization } });
  assert.deepEqual([deleted.status, await deleted.text()], [204, '']);
  const left = await fetch(`${base}/plants`, { headers: { authorization } });
  assert.deepEqual(await left.json(), [{ name: 'Fern' }, { name: 'Ivy' }]);
}

async function assertErrors(base: string): Promise<void> {
  await assertError(await fetch(`${base}/plants`), 401, 40101);
  await assertError(await post(`${base}/plants`, { id: 1 }), 400, 40002);
  await assertError(await fetch(`${base}/plants/9`, { method: 'DELETE', headers: { authorization } }), 404, 40402);
  await assertError(await fetch(`${base}/plants`, { method: 'PATCH' }), 405, 40500);
}

/** Serves a listener. Returns the base URL. */
const serve = (t: HasAfter, listener: RequestListener): Promise<string> => listenUrl(t, createServer(listener));

/** Returns the URL of the server in the OpenAPI document, resolved against the address of the document. */
async function serverUrl(base: string): Promise<string> {
  const { servers } = (await (await fetch(`${base}/openapi.json`)).json()) as { servers: { url: string }[] };
  assert.equal(servers.length, 1);
  return new URL(servers[0]?.url ?? '', `${base}/openapi.json`).href.replace(/\/$/, '');
}

describe('createRequestListener in an Express app', () => {
  it('serves every operation under a prefix, and adds the prefix to Link and to the OpenAPI document', async (t) => {
    const { listener, faults } = createListener(t);
    const url = await serve(t, express().use('/garden', listener));
    await assertService(`${url}/garden`, '/garden');
    await assertErrors(`${url}/garden`);
    assert.equal(await serverUrl(`${url}/garden`), `${url}/garden`);
    assert.deepEqual(faults, []);
  });

  it('adds the prefixes of nested routers to Link', async (t) => {
    const { listener } = createListener(t);
    const app = express().use('/garden', express.Router().use('/bed', listener));
    await assertService(`${await serve(t, app)}/garden/bed`, '/garden/bed');
  });

  it('accepts a token that a middleware has set in headers and in rawHeaders', async (t) => {
    const { listener } = createListener(t);
    const setToken: express.RequestHandler = (request, _response, next) => {
      request.headers.authorization = 'Bearer ada';
      request.rawHeaders.push('Authorization', 'Bearer ada');
      next();
    };
    const app = express().use('/garden', setToken, listener);
    assert.equal((await fetch(`${await serve(t, app)}/garden/plants`)).status, 200);
  });

  it('reads the whole body after a middleware that defers the request', async (t) => {
    const { listener } = createListener(t);
    const defer: express.RequestHandler = (_request, _response, next) => {
      setImmediate(() => {
        next();
      });
    };
    const name = 'x'.repeat(60_000);
    const url = await serve(t, express().use(defer).use('/garden', listener));
    assert.deepEqual(await (await post(`${url}/garden/plants`, { id: 1, name })).json(), { name });
  });

  it('responds with 500 after a body parser, and tells onError what to change', async (t) => {
    const { listener, faults } = createListener(t);
    const url = await serve(t, express().use(express.json()).use('/garden', listener));
    await assertError(await post(`${url}/garden/plants`, { id: 1, name: 'Fern' }), 500, 50000);
    assert.equal(faults.length, 1);
    assert.match(String(faults[0]), /mount it before any body parser/);
    const list = await fetch(`${url}/garden/plants`, { headers: { authorization } });
    assert.deepEqual(await list.json(), [], 'the plant was not created, and requests without a body still work');
  });
});

describe('createRequestListener as Connect middleware', () => {
  it('passes paths that the service does not have to the next middleware, with their body', async (t) => {
    const { listener, faults } = createListener(t);
    const app = express()
      .use(listener)
      .post('/echo', express.json(), (request, response) => {
        response.json(request.body);
      })
      .use((request, response) => {
        response.status(404).send(`the app has no ${request.url}`);
      });
    const url = await serve(t, app);
    await assertService(url, '');
    await assertErrors(url);
    assert.deepEqual(await (await post(`${url}/echo`, { hello: 'there' })).json(), { hello: 'there' });
    for (const path of ['/', '/plantsx', '/plants/1/2', '/plants/?limit=1']) {
      const response = await fetch(url + path, { headers: { authorization } });
      assert.deepEqual([response.status, await response.text()], [404, `the app has no ${path}`]);
    }
    await assertError(await fetch(`${url}/plants/1`), 405, 40500);
    assert.deepEqual(faults, []);
  });

  it('passes them on under a prefix too, so that the routes of the app after it are reached', async (t) => {
    const { listener } = createListener(t);
    const app = express()
      .use('/garden', listener)
      .get('/garden/hours', (_request, response) => {
        response.send('8 to 6');
      });
    const url = await serve(t, app);
    assert.equal(await (await fetch(`${url}/garden/hours`)).text(), '8 to 6');
    await assertService(`${url}/garden`, '/garden');
  });

  it('responds with 404 if it is called without next', async (t) => {
    const { listener } = createListener(t);
    const app = express().use('/garden', (request, response) => {
      listener(request, response);
    });
    const url = await serve(t, app);
    await assertError(await fetch(`${url}/garden/hours`), 404, 40401);
    await assertService(`${url}/garden`, '/garden');
  });
});

describe('basePath', () => {
  it('is the prefix of Link and of the server URL, for a proxy that removes a prefix', async (t) => {
    const { listener } = createListener(t, { basePath: '/garden' });
    const backend = await serve(t, listener);
    const url = await serve(t, (request, response) => {
      // Like nginx with `location /garden/ { proxy_pass http://backend/; }`.
      const { method, headers, url: target = '' } = request;
      const forwarded = forward(backend + target.replace(/^\/garden/, ''), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    });
    await assertService(`${url}/garden`, '/garden');
    assert.equal(await serverUrl(`${url}/garden`), `${url}/garden`);
  });

  it('precedes the mount path that a framework reports', async (t) => {
    const { listener } = createListener(t, { basePath: '/shop' });
    const url = await serve(t, express().use('/garden', listener));
    for (const id of [1, 2]) await post(`${url}/garden/plants`, { id, name: 'Fern' });
    const first = await fetch(`${url}/garden/plants?limit=1`, { headers: { authorization } });
    assert.equal(first.headers.get('link'), '</shop/garden/plants?limit=1&after=1>; rel="next"');
    assert.equal(await serverUrl(`${url}/garden`), `${url}/shop/garden`);
  });
});

describe('createRequestListener in a node:http server', () => {
  it('serves every operation under a prefix that is removed from url and set as baseUrl', async (t) => {
    const { listener, faults } = createListener(t);
    const url = await serve(t, (request: IncomingMessage & { baseUrl?: string }, response) => {
      request.url = request.url?.replace('/garden', '') ?? '';
      request.baseUrl = '/garden';
      listener(request, response);
    });
    await assertService(`${url}/garden`, '/garden');
    await assertError(await fetch(`${url}/garden/`), 404, 40401);
    assert.deepEqual(faults, []);
  });
});
