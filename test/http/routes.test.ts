import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answered } from '../support/call.ts';
import { findRoute, splitTarget } from '../../src/http/routes.ts';
import { parseRawAnswer, RawConnection } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const outcome = ({ status, error }: Answered): unknown[] => [status, error];

describe('splitTarget', () => {
  const targets: [target: string, path: string, query: string][] = [
    ['/plants', '/plants', ''],
    ['/plants?limit=1&after=2', '/plants', 'limit=1&after=2'],
    ['/plants?a=?', '/plants', 'a=?'],
    ['http://x.example:80/plants?limit=1', '/plants', 'limit=1'],
    ['HTTPS://x/plants', '/plants', ''],
    ['//x/plants', '//x/plants', ''],
    ['*', '*', ''],
  ];
  for (const [target, path, query] of targets) {
    it(`splits ${target} into path and query`, () => {
      assert.deepEqual({ ...splitTarget(target) }, { path, query });
    });
  }
});

describe('findRoute', () => {
  it('returns the route, the encoded id and the value of Allow', () => {
    const match = findRoute('/plants/%2D1');
    assert.deepEqual([match?.route.path, match?.idText, match?.allow], ['/plants/{id}', '%2D1', 'DELETE, OPTIONS']);
    assert.equal(findRoute('/plants')?.idText, '');
  });

  it('compares paths exactly', () => {
    for (const path of ['', '/', '/Plants', '/plants/', '/plants//1', '/plants/1/2', '/openapiXjson', '/%70lants']) {
      assert.equal(findRoute(path), undefined, path);
    }
  });
});

describe('routes', () => {
  it('responds with 404 to every other path, with and without a token', async (t) => {
    const service = await startService(t);
    for (const path of [
      '/',
      '//plants',
      '/plants/',
      '/plants/1/',
      '/plants//1',
      '/Plants',
      '/plants/1/2',
      '/%70lants',
      '/plants;x',
      '/openapiXjson',
    ]) {
      assert.deepEqual(outcome(await service.call('GET', path, { token: null })), [404, 40401], path);
      assert.deepEqual(outcome(await service.call('DELETE', path)), [404, 40401], path);
    }
  });

  it('responds with 405 and Allow to a method that a path does not support, even without a token', async (t) => {
    const service = await startService(t);
    const allowed = {
      '/plants': 'GET, POST, HEAD, OPTIONS',
      '/plants/1': 'DELETE, OPTIONS',
      '/openapi.json': 'GET, HEAD, OPTIONS',
    };
    for (const [path, allow] of Object.entries(allowed)) {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'GET', 'HEAD', 'POST'].filter((name) => !allow.includes(name))) {
        const answered = await service.call(method, path, { token: null });
        assert.equal(answered.status, 405, `${method} ${path}`);
        assert.equal(answered.headers.get('allow'), allow);
      }
      const options = await service.call('OPTIONS', path, { token: null });
      assert.deepEqual([options.status, options.text, options.headers.get('allow')], [204, '', allow]);
    }
  });

  it('accepts the absolute form of a target, which requires a token too', async (t) => {
    const service = await startService(t);
    for (const target of ['http://evil.example/plants?limit=1', 'HTTPS://x/plants']) {
      const connection = await RawConnection.open(t, service.port);
      connection.send(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      assert.equal(parseRawAnswer(await connection.untilClosed()).status, 401);
      const second = await RawConnection.open(t, service.port);
      second.send(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\nConnection: close\r\n\r\n`);
      assert.deepEqual(parseRawAnswer(await second.untilClosed()).json, []);
    }
    for (const target of ['http://x', 'http://x?/plants', '*', '?']) {
      const connection = await RawConnection.open(t, service.port);
      connection.send(`OPTIONS ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      assert.match(String(parseRawAnswer(await connection.untilClosed()).status), /^40[04]$/, target);
    }
  });
});
