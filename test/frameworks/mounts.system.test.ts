import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ServiceListener } from '../../src/http/node/listener.ts';
import { listenUrl } from '../support/listen.ts';
import { createListener } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';
import { addPlantStore, apps } from './program.ts';

const skip = addPlantStore(apps);

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
  { method: 'GET', path: '/openapi.json' }, // The document contains the prefix.
];

/** The headers that differ between two responses of one service, and those that the middleware itself changes. */
const otherHeaders = /^(?:connection|content-length|date|keep-alive|transfer-encoding|vary|x-request-id)$/;

/** Sends each request to a service under /garden, and returns the responses. */
async function callAll(url: string) {
  const responses = [];
  for (const { method, path, token = 'ada', body } of requests) {
    const response = await fetch(`${url}/garden${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip', 'content-type': 'application/json' },
      signal: AbortSignal.timeout(60_000),
      ...(body !== undefined && { body }),
    });
    assert.ok(response.headers.has('x-request-id'));
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !otherHeaders.test(name)));
    responses.push({ request: `${method} ${path}`, status: response.status, headers, body: await response.text() });
  }
  return responses;
}

type Mount = (listener: ServiceListener) => RequestListener | Promise<RequestListener>;

type Mounts = Record<'middleware' | 'prefixes', Record<string, Mount>>;

it('createRequestListener responds alike in each framework, as middleware or under a prefix', { skip }, async (t) => {
  const { middleware, prefixes } = (await import(join(apps, 'apps/mounts.js'))) as Mounts;
  const call = async (mount: Mount, basePath?: string) => {
    const { store, listener } = createListener(t, basePath === undefined ? {} : { basePath });
    await createPlants(store, 1500);
    return callAll(await listenUrl(t, createServer(await mount(listener))));
  };
  const expected = await call((listener) => listener, '/garden');
  assert.equal(expected[1]?.headers['link'], '</garden/plants?limit=20&after=19>; rel="next"');
  const mounts = Object.entries({ ...middleware, ...prefixes });
  // Middleware may add headers.
  for (const [name, mount] of mounts) assert.partialDeepStrictEqual(await call(mount, '/garden'), expected, name);
  for (const [name, mount] of Object.entries(prefixes)) {
    assert.partialDeepStrictEqual(await call(mount), expected, name);
  }
});
