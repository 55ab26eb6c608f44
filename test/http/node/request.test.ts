import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { it } from 'node:test';
import { followLinks } from '../../support/call.ts';
import { listenUrl } from '../../support/listen.ts';
import { createListener } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';

/** Each function changes a request for a path under /garden as a framework does. */
const mounts = {
  'sets originalUrl': { change: (url: string) => ({ url, originalUrl: `/garden${url}` }) },
  'sets originalUrl and baseUrl': {
    change: (url: string) => ({ url, originalUrl: `/garden${url}`, baseUrl: '/garden' }),
  },
  'sets baseUrl of an inner app only': {
    change: (url: string) => ({ url, originalUrl: `/garden${url}`, baseUrl: '/den' }),
  },
  'sets baseUrl, and rewrites the path': {
    change: (url: string) => ({ url, originalUrl: '/old', baseUrl: '/garden' }),
  },
  'changes the query': { change: (url: string) => ({ url: `${url}&key=1`, originalUrl: `http://x/garden${url}` }) },
  'sets originalUrl, although basePath is set': {
    basePath: '/garden',
    change: (url: string) => ({ url, originalUrl: `/inner${url}`, baseUrl: '/inner' }),
  },
};

it('Link and the OpenAPI document contain the prefix once, however a framework removes it', async (t) => {
  for (const [what, { change, ...options }] of Object.entries(mounts)) {
    const { listener, store } = createListener(t, options);
    await createPlants(store, 3);
    const server = createServer((request, response) => {
      void listener(Object.assign(request, change((request.url ?? '').replace('/garden', ''))), response);
    });
    const url = await listenUrl(t, server);
    assert.equal((await followLinks(url, '/garden/plants?limit=1')).length, 3, what);
    const document = (await (await fetch(`${url}/garden/openapi.json?a=b`)).json()) as { servers: unknown };
    assert.deepEqual(document.servers, [{ url: '/garden' }], what);
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
