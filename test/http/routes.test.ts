import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveTarget, splitTarget } from '../../src/http/routes.ts';
import { describeOnBothFronts } from '../support/service.ts';
import { createPlants } from '../support/stored-plants.ts';

describe('splitTarget', () => {
  it('splits a target into path and query', () => {
    const targets: [target: string, path: string, query: string][] = [
      ['/plants', '/plants', ''],
      ['/plants?limit=1&after=2', '/plants', 'limit=1&after=2'],
      ['/plants?a=?', '/plants', 'a=?'],
      ['http://x.example:80/plants?limit=1', '/plants', 'limit=1'],
      ['HTTPS://x/plants', '/plants', ''],
      ['//x/plants', '//x/plants', ''],
      ['http://x?/plants', '/', '/plants'],
      ['*', '*', ''],
      ['x?http://x/plants', 'x', 'http://x/plants'],
    ];
    for (const [target, path, query] of targets) assert.deepEqual({ ...splitTarget(target) }, { path, query }, target);
  });
});

describe('resolveTarget', () => {
  it('accepts every path with and without the base path, even if the base path is itself a route', () => {
    for (const basePath of ['', '/garden', '/plants']) {
      for (const path of ['/plants', '/plants/7', '/openapi.json']) {
        const expected = resolveTarget(path, '');
        assert.ok(expected.route);
        for (const target of [path, basePath + path]) {
          assert.deepEqual(resolveTarget(target, basePath), expected);
        }
      }
    }
  });
});

describeOnBothFronts('basePath', (start) => {
  it('is the prefix in Link and in the server URL, whether or not the request path contains it', async (t) => {
    const service = await start(t, { basePath: '/garden' });
    await createPlants(service.store, 2);
    const headers = { authorization: 'Bearer ada' };
    const get = (target: string): Promise<Response> => service.send(new Request(service.url + target, { headers }));
    for (const prefix of ['', '/garden']) {
      const { headers: received } = await get(`${prefix}/plants?limit=1`);
      assert.equal(received.get('link'), '</garden/plants?limit=1&after=0>; rel="next"');
      const document = (await (await get(`${prefix}/openapi.json`)).json()) as { servers: unknown };
      assert.deepEqual(document.servers, [{ url: '/garden' }]);
      for (const target of ['/gardens/plants', '/garden', `/garden${prefix}/garden/plants`, '/Garden/plants']) {
        assert.equal((await get(target)).status, 404, target);
      }
    }
  });
});
