import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { followLinks } from '../../support/call.ts';
import { listenUrl } from '../../support/listen.ts';
import { createListener } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';

/** What frameworks set when they have removed the prefix /garden from `url`. */
const mounts: readonly { originalUrl: (url: string) => string; baseUrl?: string; basePath?: string }[] = [
  { originalUrl: (url) => `/garden${url}` },
  { originalUrl: (url) => `/garden${url}`, baseUrl: '/garden' },
  // An inner app sets its own prefix.
  { originalUrl: (url) => `/garden${url}`, baseUrl: '/den' },
  // A middleware has changed the path, or the query.
  { originalUrl: () => '/old', baseUrl: '/garden' },
  { originalUrl: (url) => `http://x/garden${url.replace(/\?.*/, '')}` },
  { originalUrl: (url) => `/inner${url}`, baseUrl: '/inner', basePath: '/garden' },
];

it('Link and the OpenAPI document contain the prefix once, however a framework removes it', async (t) => {
  for (const { originalUrl, baseUrl, basePath } of mounts) {
    const { listener, store } = createListener(t, { basePath });
    await createPlants(store, 3);
    const server = createServer((request, response) => {
      const url = (request.url ?? '').replace('/garden', '');
      void listener(Object.assign(request, { url, originalUrl: originalUrl(url), baseUrl }), response);
    });
    const url = await listenUrl(t, server);
    assert.equal((await followLinks(url, '/garden/plants?limit=1')).length, 3);
    const document = (await (await fetch(`${url}/garden/openapi.json?a=b`)).json()) as { servers: unknown };
    assert.deepEqual(document.servers, [{ url: '/garden' }]);
  }
});

it('Link does not contain a prefix that is not a path', async (t) => {
  const { listener, store } = createListener(t);
  await createPlants(store, 2);
  for (const prefix of ['//evil', '/a>;rel="x",</b', '/a?b', 'garden']) {
    const server = createServer((request, response) => {
      void listener(Object.assign(request, { originalUrl: prefix + (request.url ?? '') }), response);
    });
    const response = await fetch(`${await listenUrl(t, server)}/plants?limit=1`, {
      headers: { authorization: 'Bearer ada' },
    });
    assert.equal(response.headers.get('link'), '</plants?limit=1&after=0>; rel="next"', prefix);
  }
});
