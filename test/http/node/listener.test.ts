import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
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

async function errorIn(response: Response): Promise<unknown> {
  return ((await response.json()) as { error: number }).error;
}

/** Serves a listener. Returns the base URL. */
const serve = (t: HasAfter, listener: RequestListener): Promise<string> => listenUrl(t, createServer(listener));

describe('createRequestListener in an Express app', () => {
  it('appends the path under which it is mounted to basePath, in Link and the OpenAPI document', async (t) => {
    const { listener, faults } = createListener(t, { basePath: '/shop' });
    const base = `${await serve(t, express().use('/garden', listener))}/garden`;
    for (const id of [1, 2]) await post(`${base}/plants`, { id, name: `plant ${id}` });
    const page = await fetch(`${base}/plants?limit=1`, { headers: { authorization } });
    assert.equal(page.headers.get('link'), '</shop/garden/plants?limit=1&after=1>; rel="next"');
    assert.deepEqual(await page.json(), [{ name: 'plant 1' }]);
    const document = await fetch(`${base}/openapi.json`);
    assert.deepEqual(((await document.json()) as { servers: unknown }).servers, [{ url: '/shop/garden' }]);
    assert.deepEqual(faults, []);
  });

  it('responds with 500 if it is mounted after a body parser, and tells onError what to change', async (t) => {
    const { listener, faults } = createListener(t);
    const url = await serve(t, express().use(express.json()).use('/garden', listener));
    assert.equal(await errorIn(await post(`${url}/garden/plants`, { id: 1, name: 'Fern' })), 50000);
    assert.equal(faults.length, 1);
    assert.match(String(faults[0]), /mount it before any body parser/);
    const list = await fetch(`${url}/garden/plants`, { headers: { authorization } });
    assert.deepEqual(await list.json(), [], 'the plant was not created, and requests without a body still work');
  });

  it('ignores a request whose response was sent by an earlier middleware, and keeps the connection', async (t) => {
    const { listener, faults } = createListener(t);
    const app = express().use((_, response, next) => {
      response.end('too late', () => setImmediate(next));
    });
    const url = await serve(t, app.use(listener));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => {
      agent.destroy();
    });
    const ports = new Set<number | undefined>();
    for (let n = 0; n < 40; n++) {
      const request = get(`${url}/plants`, { agent, headers: { authorization } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      ports.add(response.socket.localPort);
      await response.resume().toArray();
    }
    assert.equal(ports.size, 1);
    assert.deepEqual(faults, []);
  });

  it('passes requests for unknown paths, with their bodies, to the next middleware', async (t) => {
    const { listener, faults } = createListener(t);
    for (const [app, base] of [
      [express().use(listener), ''],
      [express().use('/garden', listener), '/garden'],
    ] as const) {
      app.use((request, response) => {
        response.status(404);
        request.pipe(response.append('X-Path', request.url));
      });
      const url = await serve(t, app);
      for (const path of ['/', '/plantsx', '/plants/1/2', '/plants/?limit=1']) {
        const response = await post(url + base + path, { hello: 'there' });
        assert.deepEqual([response.status, response.headers.get('x-path')], [404, base + path]);
        assert.deepEqual(await response.json(), { hello: 'there' });
      }
      assert.equal(await errorIn(await fetch(`${url}${base}/plants/1`)), 40500);
    }
    assert.deepEqual(faults, []);
  });
});
