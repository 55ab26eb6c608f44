import assert from 'node:assert/strict';
import { createServer, request as forward } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import express from 'express';
import { MemoryStorage, PlantStore } from '../../../src/index.ts';
import { createRequestListener } from '../../../src/http.ts';
import type { ServiceOptions } from '../../../src/http.ts';
import { listenUrl } from '../../support/listen.ts';
import { authenticateByName } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const authorization = 'Bearer ada';
const jsonHeaders = { authorization, 'content-type': 'application/json' };

/** Returns a listener to mount, and the errors that it reports to `onError`. */
function createListener(
  t: HasAfter,
  options: Partial<ServiceOptions> = {},
): { listener: ReturnType<typeof createRequestListener>; faults: unknown[] } {
  const store = new PlantStore({ storage: new MemoryStorage() });
  t.after(() => store.close());
  const faults: unknown[] = [];
  const listener = createRequestListener(store, {
    authenticate: authenticateByName,
    onError: (error) => faults.push(error),
    ...options,
  });
  return { listener, faults };
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) });
}

async function assertError(response: Response, status: number, error: number): Promise<void> {
  assert.equal(response.status, status);
  assert.equal(response.headers.get('content-type'), 'application/json');
  const body = (await response.json()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(body).sort(), ['error', 'message']);
  assert.equal(body['error'], error);
  assert.equal(typeof body['message'], 'string');
}

/** Asserts that all operations work under the prefix with which `base` ends, and that `Link` contains it. */
async function assertService(base: string, prefix: string): Promise<void> {
  for (const [id, name] of [
    [1, 'Fern'],
    [2, 'Moss'],
    [3, 'Ivy'],
  ] as const) {
    const created = await post(`${base}/plants`, { id, name });
    assert.equal(created.status, 200);
    assert.deepEqual(await created.json(), { name });
  }

  const first = await fetch(`${base}/plants?limit=1`, { headers: { authorization } });
  assert.equal(first.headers.get('link'), `<${prefix}/plants?limit=1&after=1>; rel="next"`);
  assert.deepEqual(await first.json(), [{ name: 'Fern' }]);
  const [, target = ''] = /^<(.*)>/.exec(first.headers.get('link') ?? '') ?? [];
  const second = await fetch(new URL(target, base), { headers: { authorization } });
  assert.deepEqual(await second.json(), [{ name: 'Moss' }]);

  const deleted = await fetch(`${base}/plants/2`, { method: 'DELETE', headers: { authorization } });
  assert.equal(deleted.status, 204);
  assert.equal(await deleted.text(), '');
  const left = await fetch(`${base}/plants`, { headers: { authorization } });
  assert.deepEqual(await left.json(), [{ name: 'Fern' }, { name: 'Ivy' }]);
}

async function assertErrors(base: string): Promise<void> {
  await assertError(await fetch(`${base}/plants`), 401, 40101);
  await assertError(await post(`${base}/plants`, { id: 1 }), 400, 40002);
  await assertError(await fetch(`${base}/plants/9`, { method: 'DELETE', headers: { authorization } }), 404, 40402);
  await assertError(await fetch(`${base}/plants`, { method: 'PATCH' }), 405, 40500);
}

describe('createRequestListener in an Express app', () => {
  it('serves every operation under a prefix, and adds the prefix to Link', async (t) => {
    const { listener, faults } = createListener(t);
    const app = express().use('/garden', listener);
    const url = await listenUrl(t, createServer(app));
    await assertService(`${url}/garden`, '/garden');
    assert.deepEqual(faults, []);
  });

  it('adds the prefixes of nested routers to Link', async (t) => {
    const { listener } = createListener(t);
    const app = express().use('/garden', express.Router().use('/bed', listener));
    const url = await listenUrl(t, createServer(app));
    await assertService(`${url}/garden/bed`, '/garden/bed');
  });

  it('responds with an Error body to unknown paths under the prefix if it is called without next', async (t) => {
    const { listener } = createListener(t);
    const app = express().use('/garden', (request, response) => {
      listener(request, response);
    });
    const response = await fetch(`${await listenUrl(t, createServer(app))}/garden/nothing`);
    assert.deepEqual([response.status, ((await response.json()) as { error: number }).error], [404, 40401]);
  });

  it('accepts a token that a middleware has set in headers and in rawHeaders', async (t) => {
    const { listener } = createListener(t);
    const setToken: express.RequestHandler = (request, _response, next) => {
      request.headers.authorization = 'Bearer ada';
      request.rawHeaders.push('Authorization', 'Bearer ada');
      next();
    };
    const app = express().use('/garden', setToken, listener);
    const response = await fetch(`${await listenUrl(t, createServer(app))}/garden/plants`);
    assert.equal(response.status, 200);
  });

  it('responds with an Error body under the prefix', async (t) => {
    const { listener, faults } = createListener(t);
    const app = express().use('/garden', listener);
    const url = await listenUrl(t, createServer(app));
    await assertErrors(`${url}/garden`);
    assert.deepEqual(faults, []);
  });

  it('serves an OpenAPI document whose server URL is the prefix', async (t) => {
    const { listener } = createListener(t);
    const app = express().use('/garden', listener);
    const url = await listenUrl(t, createServer(app));
    const documentUrl = `${url}/garden/openapi.json`;
    const { servers } = (await (await fetch(documentUrl)).json()) as { servers: { url: string }[] };
    // A relative server URL is resolved against the document's own address (OpenAPI 3.1.0, Server Object).
    const bases = servers.map((server) => new URL(server.url, documentUrl).href.replace(/\/$/, ''));
    assert.deepEqual(bases, [`${url}/garden`]);
  });

  it('does not affect other routes of the app', async (t) => {
    const { listener } = createListener(t);
    const app = express()
      .use('/garden', listener)
      .use(express.json())
      .post('/echo', (request, response) => {
        response.json(request.body);
      });
    const url = await listenUrl(t, createServer(app));
    const echoed = await post(`${url}/echo`, { hello: 'there' });
    assert.equal(echoed.status, 200);
    assert.deepEqual(await echoed.json(), { hello: 'there' });
    assert.equal((await post(`${url}/garden/plants`, { id: 1, name: 'Fern' })).status, 200);
    assert.equal((await fetch(`${url}/elsewhere`)).status, 404);
  });

  it('reads the whole body after a middleware that defers the request', async (t) => {
    const { listener } = createListener(t);
    const app = express()
      .use((_request, _response, next) => {
        setImmediate(() => {
          next();
        });
      })
      .use('/garden', listener);
    const url = await listenUrl(t, createServer(app));
    const name = 'x'.repeat(60_000);
    const created = await post(`${url}/garden/plants`, { id: 1, name });
    assert.deepEqual(await created.json(), { name });
  });

  it('responds with 500 after a body parser, and tells onError what to change', async (t) => {
    const { listener, faults } = createListener(t);
    const app = express().use(express.json()).use('/garden', listener);
    const url = await listenUrl(t, createServer(app));
    const signal = AbortSignal.timeout(10_000);
    const body = JSON.stringify({ id: 1, name: 'Fern' });
    const response = await fetch(`${url}/garden/plants`, { method: 'POST', headers: jsonHeaders, body, signal });
    await assertError(response, 500, 50000);
    assert.equal(faults.length, 1);
    assert.match(String(faults[0]), /mount it before any body parser/);

    const list = await fetch(`${url}/garden/plants`, { headers: { authorization }, signal });
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
    const url = await listenUrl(t, createServer(app));
    await assertService(url, '');
    await assertErrors(url);
    assert.deepEqual(await (await post(`${url}/echo`, { hello: 'there' })).json(), { hello: 'there' });
    for (const path of ['/', '/plantsx', '/plants/1/2', '/plants/?limit=1']) {
      const response = await fetch(url + path, { headers: { authorization } });
      assert.deepEqual([response.status, await response.text()], [404, `the app has no ${path}`]);
    }
    assert.deepEqual(faults, []);
  });

  it('passes them on under a prefix too, so that the routes of the app after it are reached', async (t) => {
    const { listener } = createListener(t);
    const app = express()
      .use('/garden', listener)
      .get('/garden/hours', (_request, response) => {
        response.send('8 to 6');
      });
    const url = await listenUrl(t, createServer(app));
    assert.equal(await (await fetch(`${url}/garden/hours`)).text(), '8 to 6');
    await assertService(`${url}/garden`, '/garden');
  });

  it('responds with 405 to another method of a path that the service has', async (t) => {
    const { listener } = createListener(t);
    const app = express()
      .use(listener)
      .use((_request, response) => {
        response.send('the app');
      });
    const url = await listenUrl(t, createServer(app));
    await assertError(await fetch(`${url}/plants/1`), 405, 40500);
    assert.equal(await (await fetch(`${url}/plant/1`)).text(), 'the app');
  });

  it('responds with 404 if it is called without next', async (t) => {
    const { listener } = createListener(t);
    const app = express().use('/garden', (request, response) => {
      listener(request, response);
    });
    const url = await listenUrl(t, createServer(app));
    await assertError(await fetch(`${url}/garden/hours`), 404, 40401);
    await assertService(`${url}/garden`, '/garden');
  });
});

describe('basePath', () => {
  it('is the prefix of Link and of the server URL, for a proxy that removes a prefix', async (t) => {
    const { listener } = createListener(t, { basePath: '/garden' });
    const backend = await listenUrl(t, createServer(listener));
    const url = await listenUrl(
      t,
      createServer((request, response) => {
        // Like nginx with `location /garden/ { proxy_pass http://backend/; }`.
        const { method, headers, url: target = '' } = request;
        const forwarded = forward(backend + target.replace(/^\/garden/, ''), { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        });
        request.pipe(forwarded);
      }),
    );
    await assertService(`${url}/garden`, '/garden');
    const { servers } = (await (await fetch(`${url}/garden/openapi.json`)).json()) as { servers: unknown };
    assert.deepEqual(servers, [{ url: '/garden' }]);
  });

  it('precedes the mount path that a framework reports', async (t) => {
    const { listener } = createListener(t, { basePath: '/shop' });
    const url = await listenUrl(t, createServer(express().use('/garden', listener)));
    await post(`${url}/garden/plants`, { id: 1, name: 'Fern' });
    await post(`${url}/garden/plants`, { id: 2, name: 'Moss' });
    const first = await fetch(`${url}/garden/plants?limit=1`, { headers: { authorization } });
    assert.equal(first.headers.get('link'), '</shop/garden/plants?limit=1&after=1>; rel="next"');
    const { servers } = (await (await fetch(`${url}/garden/openapi.json`)).json()) as { servers: unknown };
    assert.deepEqual(servers, [{ url: '/shop/garden' }]);
  });
});

describe('createRequestListener in a node:http server', () => {
  it('serves every operation under a prefix that is removed from url and set as baseUrl', async (t) => {
    const { listener, faults } = createListener(t);
    const server = createServer((request: IncomingMessage & { baseUrl?: string }, response) => {
      if (request.url?.startsWith('/garden/') !== true) {
        response.writeHead(418).end();
        return;
      }
      request.url = request.url.slice('/garden'.length);
      request.baseUrl = '/garden';
      listener(request, response);
    });
    const url = await listenUrl(t, server);
    await assertService(`${url}/garden`, '/garden');
    await assertError(await fetch(`${url}/garden/`), 404, 40401);
    assert.equal((await fetch(`${url}/plants`)).status, 418);
    assert.deepEqual(faults, []);
  });

  it('adds no prefix by default', async (t) => {
    const { listener } = createListener(t);
    const url = await listenUrl(t, createServer(listener));
    await assertService(url, '');
    await assertErrors(url);
    await assertError(await fetch(url), 404, 40401);
    await assertError(await fetch(`${url}/plantsx`), 404, 40401);
  });
});
