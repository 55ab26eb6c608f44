import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import { listenUrl } from '../support/listen.ts';
import { createListener } from '../support/service.ts';
import { apps, arePackagesInstalled } from './program.ts';

const requests: readonly { method: string; path: string; token?: string; body?: string }[] = [
  { method: 'GET', path: '/plants' },
  { method: 'GET', path: '/plants?limit=20' },
  { method: 'HEAD', path: '/plants?limit=20' },
  { method: 'POST', path: '/plants', body: '{"id":-1,"name":"Fern","tag":"indoor"}' },
  { method: 'POST', path: '/plants', body: '{}' },
  { method: 'DELETE', path: '/plants/-1' },
  { method: 'GET', path: '/plants', token: 'unknown' },
  { method: 'DELETE', path: '/plants/1', token: 'ada-reads' },
  { method: 'OPTIONS', path: '/plants' },
];

/** The headers that differ between two responses of one service, and those that the middleware itself changes. */
const otherHeaders = /^(?:connection|content-length|date|keep-alive|transfer-encoding|vary|x-request-id)$/;

/** Sends each request, and returns the responses, with the headers that the service has set. */
async function callAll(url: string) {
  const responses = [];
  for (const { method, path, token = 'ada', body } of requests) {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip', 'content-type': 'application/json' },
      signal: AbortSignal.timeout(60_000),
      ...(body !== undefined && { body }),
    });
    assert.ok(response.headers.has('x-request-id'));
    const headers = [...response.headers].filter(([name]) => !otherHeaders.test(name));
    responses.push({ request: `${method} ${path}`, status: response.status, headers, body: await response.text() });
  }
  return responses;
}

type Response = Awaited<ReturnType<typeof callAll>>[number];

/** Removes the headers that `expected` does not have, such as `Content-Encoding` and `Set-Cookie`. */
function withoutAdded(response: Response, expected: Response | undefined): Response {
  const names = new Set(expected?.headers.map(([name]) => name));
  return { ...response, headers: response.headers.filter(([name]) => names.has(name)) };
}

type ServiceListener = ReturnType<typeof createListener>['listener'];

/** The exports of apps/middleware.js. */
interface Module {
  readonly apps: Readonly<Record<string, (plants: ServiceListener) => RequestListener | Promise<RequestListener>>>;
}

it('createRequestListener sends the same responses behind middleware that replaces methods of them', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const { apps: mounts } = (await import(join(apps, 'apps/middleware.js'))) as Module;
  for (const [name, mount] of Object.entries(mounts)) {
    await t.test(name, async (t) => {
      const { store, listener } = createListener(t);
      const plants: RequestListener = (request, response) => {
        void listener(request, response);
      };
      await Promise.all(Array.from({ length: 1500 }, (_, id) => store.createPlant('ada', { id, name: `plant ${id}` })));
      const expected = await callAll(await listenUrl(t, createServer(plants)));
      const actual = await callAll(await listenUrl(t, createServer(await mount(listener))));
      assert.deepEqual(
        actual.map((response, n) => withoutAdded(response, expected[n])),
        expected,
      );
    });
  }
});
