import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import { createRequestListener } from '../../src/http.ts';
import type { Authenticate, Caller } from '../../src/http.ts';
import { parseRawAnswer, RawConnection } from '../support/raw-http.ts';
import { authenticateByName, startService } from '../support/service.ts';
import type { Answered } from '../support/service.ts';

const fern = { body: '{"id":1,"name":"Fern"}' };
const outcome = ({ status, json }: Answered): unknown[] => [status, (json as { error: number }).error];
const challengeOf = ({ headers }: Answered): string | null => headers.get('www-authenticate');

describe('Routing', () => {
  it('answers 404 for every other path, with or without a token', async (t) => {
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

  it('answers 405 with Allow for a method that a path does not take, before it looks at a token', async (t) => {
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

  it('takes the absolute form of a target, and credentials all the same', async (t) => {
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

describe('Bearer tokens', () => {
  it('are not even looked up where they are malformed', async (t) => {
    const asked: string[] = [];
    const authenticate = (token: string): Caller => {
      asked.push(token);
      return { user: 'ada' };
    };
    const service = await startService(t, { authenticate });
    for (const authorization of [
      'Bearer a b',
      'Bearer "ada"',
      'Bearer ada,',
      'Bearer =',
      'Bearer a=b',
      "Bearer ' OR 1=1",
    ]) {
      assert.equal(
        (await service.call('GET', '/plants', { token: null, headers: { authorization } })).status,
        401,
        authorization,
      );
    }
    assert.equal((await service.call('GET', '/plants', { token: 'A-._~+/z9==' })).status, 200);
    assert.deepEqual(asked, ['A-._~+/z9==']);
  });

  it('count in the header only, once', async (t) => {
    const service = await startService(t);
    assert.equal((await service.call('GET', '/plants?access_token=ada', { token: null })).status, 401);
    const connection = await RawConnection.open(t, service.port);
    connection.send(
      'GET /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ada\r\nauthorization: Bearer bob\r\nConnection: close\r\n\r\n',
    );
    const { status, head } = parseRawAnswer(await connection.untilClosed());
    assert.equal(status, 401);
    assert.match(head, /error="invalid_token"/);
  });

  it('are held to their scopes', async (t) => {
    const service = await startService(t);
    const write = await service.call('POST', '/plants', { ...fern, token: 'ada-reads' });
    assert.deepEqual(outcome(write), [403, 40300]);
    assert.equal(challengeOf(write), 'Bearer realm="plants", error="insufficient_scope", scope="plants:write"');
    assert.equal((await service.call('DELETE', '/plants/1', { token: 'ada-reads' })).status, 403);
    const read = await service.call('GET', '/plants', { token: 'ada-writes' });
    assert.equal(challengeOf(read), 'Bearer realm="plants", error="insufficient_scope", scope="plants:read"');
    assert.equal((await service.call('POST', '/plants', { ...fern, token: 'ada-writes' })).status, 200);
    assert.equal((await service.call('GET', '/plants', { token: 'ada-reads' })).text, '[{"name":"Fern"}]');
  });
});

describe('Faults', () => {
  const failing = (authenticate: Authenticate): { authenticate: Authenticate } => ({ authenticate });

  it('of this side are a 500 that tells nothing, and are reported', async (t) => {
    for (const cause of [new Error('password is hunter2'), 'hunter2', undefined]) {
      const service = await startService(
        t,
        failing(() => {
          throw cause as Error;
        }),
      );
      const answered = await service.call('GET', '/plants');
      assert.deepEqual(outcome(answered), [500, 50000]);
      assert.doesNotMatch(answered.text, /hunter2/);
      assert.deepEqual(service.faults, [cause]);
    }
  });

  it('of the storage are a 503 to try again, and are reported with their cause', async (t) => {
    const storage = new MemoryStorage();
    const cause = new Error('disk full');
    storage.commit = () => Promise.reject(cause);
    const service = await startService(t, { storage });
    const answered = await service.call('POST', '/plants', fern);
    assert.deepEqual([...outcome(answered), answered.headers.get('retry-after')], [503, 50300, '1']);
    assert.doesNotMatch(answered.text, /disk/);
    assert.deepEqual(
      service.faults.map((fault) => (fault as Error).cause),
      [cause],
    );
  });

  it('are none where the store is saturated or closed: that is a 503 and nothing to report', async (t) => {
    const storage = new MemoryStorage();
    const commit = storage.commit.bind(storage);
    const entered = Promise.withResolvers<undefined>();
    const waiting = Promise.withResolvers<undefined>();
    storage.commit = async (writes) => {
      entered.resolve(undefined);
      await waiting.promise;
      return commit(writes);
    };
    const service = await startService(t, { store: new PlantStore({ storage, maxQueuedWrites: 1 }) });
    const first = service.call('POST', '/plants', fern);
    await entered.promise;
    const refused = await service.call('POST', '/plants', { body: '{"id":2,"name":"x"}' });
    assert.deepEqual([...outcome(refused), refused.headers.get('retry-after')], [503, 50300, '1']);
    waiting.resolve(undefined);
    assert.equal((await first).status, 200);
    await service.store.close();
    assert.equal((await service.call('GET', '/plants')).status, 503);
    assert.deepEqual(service.faults, []);
  });

  it('of an authenticate that is down for a while can be a 503', async (t) => {
    const service = await startService(
      t,
      failing(() => Promise.reject(new PlantStoreError('storage_unavailable'))),
    );
    assert.deepEqual(outcome(await service.call('GET', '/plants')), [503, 50300]);
  });
});

describe('createRequestListener', () => {
  it('refuses wrong options, naming them', () => {
    const store = new PlantStore({ storage: new MemoryStorage() });
    const make =
      (options: object): (() => unknown) =>
      () =>
        createRequestListener(store, { authenticate: authenticateByName, ...options });
    assert.throws(make({ authenticate: undefined }), { name: 'TypeError', message: /authenticate/ });
    assert.throws(make({ onError: 'x' }), { name: 'TypeError', message: /onError/ });
    assert.throws(make({ maxBodyBytes: 0 }), {
      name: 'TypeError',
      message: /maxBodyBytes must be an integer of 1 or more/,
    });
    for (const basePath of ['garden', '/garden/', '/', '//garden', '/a b', '/a?b', '/a>', 7, null]) {
      assert.throws(make({ basePath }), { name: 'TypeError', message: /^basePath must be a path/ });
    }
    for (const basePath of ['', '/garden', '/a/b-c/%7Bd%7D', '/~ada']) make({ basePath })();
    assert.throws(make({ maxBodyDepth: 1.5 }), { name: 'TypeError', message: /maxBodyDepth/ });
  });
});
