import assert from 'node:assert/strict';
import { it } from 'node:test';
import { resolveTarget } from '../../src/http/routes.ts';

/** Returns the route template, the id and the query of a target, or `undefined` if no route matches. */
function resolve(target: string, basePath = ''): string | undefined {
  const { route, idText, query } = resolveTarget('GET', target, basePath);
  return route && [route.path, idText, query].join(' ').trim();
}

it('resolveTarget matches an exact path, also in an absolute URL, and ignores the query', () => {
  for (const target of ['/plants', '/plants?', 'http://plants.test/plants', 'HTTPS://x:8443/plants']) {
    assert.equal(resolve(target), '/plants', target);
  }
  assert.equal(resolve('/plants?a=b/c?d'), '/plants  a=b/c?d');
  assert.equal(resolve('/plants/%zz?a'), '/plants/{id} %zz a');
  assert.equal(resolve('http://x/plants/7?a'), '/plants/{id} 7 a');
  const paths = ['/', '', '*', '/Plants', '/plants/', '/plants/1/2', '//x/plants', '/x//plants', '/openapi_json'];
  for (const target of [...paths, 'http://plants', 'http://x?/plants', 'x/plants', '/%70lants']) {
    assert.equal(resolve(target), undefined, target);
  }
  for (const method of ['get', 'constructor']) {
    assert.equal(resolveTarget(method, '/plants', '').operation, undefined, method);
  }
});

it('a request target matches with and without basePath, even if basePath is itself a route', () => {
  for (const basePath of ['/garden', '/plants', '/~ada/b-c/%7Bd%7D']) {
    for (const prefix of ['', basePath]) {
      // A `Link` header adds the prefix to this path.
      const { route, path, idText } = resolveTarget('DELETE', `${prefix}/plants/7`, basePath);
      assert.deepEqual([route?.path, path, idText], ['/plants/{id}', '/plants/7', '7']);
    }
  }
  for (const target of ['/gardens/plants', '/garden', '/garden/garden/plants', '/Garden/plants', '/garden//plants']) {
    assert.equal(resolve(target, '/garden'), undefined, target);
  }
});
