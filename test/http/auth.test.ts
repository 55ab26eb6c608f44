import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PlantStoreError } from '../../src/index.ts';
import type { Authenticate, Caller } from '../../src/http.ts';
import { outcome } from '../support/call.ts';
import { createFetchService, startService } from '../support/service.ts';

describe('authenticate', () => {
  it('is called only with well-formed tokens, and rejects a token by returning undefined or null', async (t) => {
    const token = 'A-._~+/z9==';
    // Other scopes grant no access, even if their names are similar.
    const callers = new Map<string, Caller | null>([
      [token, { user: 'ada', scopes: ['', 'openid', 'plants', 'plants:', 'plants:read', 'plants:write:all'] }],
      ['eve', null],
    ]);
    for (const settle of [(caller: unknown) => caller, (caller: unknown) => Promise.resolve(caller)]) {
      const received: string[] = [];
      const authenticate = ((given) => {
        received.push(given);
        return settle(callers.get(given));
      }) as Authenticate;
      const service = await startService(t, { authenticate });
      for (const refused of ['a b', '"ada"', 'ada,', '=', 'a=b', "' OR 1=1", 'eve', 'joe']) {
        assert.deepEqual(outcome(await service.call('GET', '/plants', { token: refused })), [401, 40102], refused);
      }
      assert.deepEqual(outcome(await service.call('DELETE', '/plants/1', { token })), [403, 40300]);
      assert.equal((await service.call('GET', '/plants', { token })).status, 200);
      assert.deepEqual(received, ['eve', 'joe', token, token]);
      assert.deepEqual(service.faults, []);
    }
  });

  const wrong: [unknown, RegExp][] = [
    ['ada', /returned a string, not a Caller or null/],
    [{}, /an invalid user: user must be a string of 1 to 255 bytes/],
    [{ user: 'ada', scopes: 'plants:read' }, /whose scopes are not an array of strings/],
    [{ user: 'ada', scopes: ['plants:read', 7] }, /whose scopes are not an array of strings/],
    [{ user: 'ada', tokenId: 7 }, /whose tokenId is not a string/],
    [{ user: 'ada', scope: ['plants:read'] }, /the unknown member scope/],
    [Object.assign(Object.create({ scope: ['plants:read'] }), { user: 'ada' }), /the unknown member scope/],
  ];
  it('causes a 500 response and a reported TypeError if it returns something other than a Caller', async (t) => {
    let returned: unknown;
    const service = await startService(t, { authenticate: (() => returned) as Authenticate });
    for (const [caller, message] of wrong) {
      for (returned of [caller, Promise.resolve(caller)]) {
        assert.deepEqual(outcome(await service.call('GET', '/plants')), [500, 50000]);
        const [fault, ...others] = service.faults.splice(0);
        assert.ok(fault instanceof TypeError && others.length === 0);
        assert.match(fault.message, message);
      }
    }
  });

  /** An object whose properties cannot be read. */
  const unreadable = new Proxy(
    {},
    {
      get: () => {
        throw new Error('hunter2');
      },
    },
  );
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const causes: [cause: unknown, status: number, error: number][] = [
    ['hunter2', 500, 50000],
    [new PlantStoreError('invalid_user', 'hunter2'), 500, 50000],
    [new PlantStoreError('saturated', 'hunter2'), 500, 50000],
    [new PlantStoreError('storage_unavailable'), 503, 50301],
    [unreadable, 500, 50000],
    [revoked.proxy, 500, 50000],
    [{ name: 'PlantStoreError', code: unreadable }, 500, 50000],
  ];
  it('causes a reported error and a 500 or 503 response without details if it throws or rejects', async (t) => {
    let cause: unknown;
    const authenticate = (token: string): Promise<never> => {
      if (token === 'ada') throw cause as Error;
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      return Promise.reject(cause);
    };
    const service = await startService(t, { authenticate });
    for (const [thrown, status, error] of causes) {
      cause = thrown;
      for (const token of ['ada', 'bob']) {
        const answered = await service.call('GET', '/plants', { token });
        assert.deepEqual(outcome(answered), [status, error]);
        assert.equal(answered.headers.get('retry-after'), status === 503 ? '1' : null);
        assert.doesNotMatch(answered.text, /hunter2/);
        assert.ok(service.faults.length === 1 && service.faults.pop() === cause);
      }
    }
  });

  it('causes a 500 response and a reported error if its promise does not settle within 10 seconds', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const called = Promise.withResolvers<undefined>();
    const service = createFetchService(t, {
      authenticate: () => {
        called.resolve(undefined);
        return new Promise(() => undefined);
      },
    });
    const answered = service.call('GET', '/plants');
    await called.promise;
    t.mock.timers.tick(10_000);
    assert.deepEqual(outcome(await answered), [500, 50000]);
    assert.match(String(service.faults), /did not settle within 10000 milliseconds/);
  });

  it('receives the method, the path and the headers of the request', async (t) => {
    const seen: unknown[] = [];
    const authenticate: Authenticate = (token, { method, path, header }) => {
      seen.push([token, method, path, header('X-Tenant'), header('x-none'), header('constructor')]);
      return { user: 'ada' };
    };
    for (const service of [await startService(t, { authenticate }), createFetchService(t, { authenticate })]) {
      await service.call('DELETE', '/plants/7?a=b', { headers: { 'x-tenant': 'garden' } });
      assert.deepEqual(seen.splice(0), [['ada', 'DELETE', '/plants/7', 'garden', undefined, undefined]]);
    }
  });
});
