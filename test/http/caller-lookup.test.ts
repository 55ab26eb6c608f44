import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Authenticate } from '../../src/http.ts';
import { outcome } from '../support/call.ts';
import { createFetchService, startService } from '../support/service.ts';

describe('authenticate', () => {
  it('rejects the token if it returns undefined or null', async (t) => {
    const users = new Map<string, { user: string } | null>([
      ['ada', { user: 'ada' }],
      ['eve', null],
    ]);
    for (const authenticate of [
      (token: string) => users.get(token),
      (token: string) => Promise.resolve(users.get(token)),
    ]) {
      const service = await startService(t, { authenticate });
      for (const token of ['eve', 'joe']) {
        assert.deepEqual(outcome(await service.call('GET', '/plants', { token })), [401, 40102]);
      }
      assert.equal((await service.call('GET', '/plants')).status, 200);
      assert.deepEqual(service.faults, []);
    }
  });

  const wrong: [unknown, RegExp][] = [
    [false, /must return a Caller or null, not a boolean/],
    ['ada', /must return a Caller or null, not a string/],
    [{}, /an invalid user: user must be a string of 1 to 255 bytes/],
    [{ user: '' }, /an invalid user/],
    [{ user: 'x'.repeat(256) }, /an invalid user/],
    [{ user: 7 }, /an invalid user/],
    [{ user: 'ada', scopes: 'plants:read' }, /whose scopes are not an array of strings/],
    [{ user: 'ada', scopes: null }, /whose scopes are not an array of strings/],
    [{ user: 'ada', scopes: [7] }, /whose scopes are not an array of strings/],
    [{ user: 'ada', tokenId: 7 }, /whose tokenId is not a string/],
  ];
  it('causes 500 and reports a TypeError if it returns something other than a Caller', async (t) => {
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

  it('may return scopes of other services, which grant nothing', async (t) => {
    const scopes = 'openid plants:read'.split(' ');
    const service = await startService(t, { authenticate: () => ({ user: 'ada', scopes }) });
    assert.equal((await service.call('GET', '/plants')).status, 200);
    assert.equal((await service.call('POST', '/plants', { body: '{"id":1,"name":"x"}' })).status, 403);
  });

  it('causes 500 and reports an error if its promise does not settle within 10 seconds', async (t) => {
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
});
