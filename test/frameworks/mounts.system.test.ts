import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import { followLinks } from '../support/call.ts';
import { listenUrl } from '../support/listen.ts';
import { createListener } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
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

type Mounts<Mounted> = Readonly<Record<string, (mounted: Mounted) => RequestListener | Promise<RequestListener>>>;

/** The exports of apps/mounts.js. */
interface Module {
  readonly middleware: Mounts<ServiceListener>;
  readonly prefixes: Mounts<ServiceListener>;
  readonly errorHandlers: Mounts<() => Promise<unknown>>;
}

const importMounts = async (): Promise<Module> => (await import(join(apps, 'apps/mounts.js'))) as Module;

it('createRequestListener sends the same responses behind middleware that replaces methods of them', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const { middleware } = await importMounts();
  const { store, listener } = createListener(t);
  await createPlants(store, 1500);
  const expected = await callAll(
    await listenUrl(
      t,
      createServer((...call) => void listener(...call)),
    ),
  );
  for (const [name, mount] of Object.entries(middleware)) {
    const actual = await callAll(await listenUrl(t, createServer(await mount(listener))));
    assert.deepEqual(
      actual.map((response, n) => withoutAdded(response, expected[n])),
      expected,
      name,
    );
  }
});

it('Link leads to the last page, and OpenAPI names the prefix, in each framework that removes it', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const { prefixes } = await importMounts();
  for (const [name, mount] of Object.entries(prefixes)) {
    for (const options of [{}, { basePath: '/garden' }]) {
      const { store, listener } = createListener(t, options);
      await createPlants(store, 5);
      const url = await listenUrl(t, createServer(await mount(listener)));
      assert.equal((await followLinks(url, '/garden/plants?limit=2')).length, 3, name);
      const document = (await (await fetch(`${url}/garden/openapi.json`)).json()) as { servers: unknown };
      assert.deepEqual(document.servers, [{ url: '/garden' }], name);
    }
  }
});

it('the error handlers of Express and Fastify respond with the status of a PlantStoreError', async (t) => {
  if (!arePackagesInstalled(t, apps)) return;
  const { errorHandlers } = await importMounts();
  const { store } = createListener(t);
  for (const [name, mount] of Object.entries(errorHandlers)) {
    const app = await mount(() => store.createPlant('ada', { id: 1.5, name: 'Fern' }));
    assert.equal((await fetch(await listenUrl(t, createServer(app)))).status, 400, name);
  }
});
