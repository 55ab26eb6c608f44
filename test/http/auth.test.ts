import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { PlantStoreError } from '../../src/index.ts';
import type { Authenticate } from '../../src/http.ts';
import { outcome } from '../support/call.ts';
import { mockTimers } from '../support/mock-timers.ts';
import { createFetchService, startService } from '../support/service.ts';

it('authenticate receives only well-formed tokens, and rejects one by returning undefined or null', async (t) => {
  const token = 'A-._~+/z9==';
  // Other scopes grant no access, even if their names are similar.
  const scopes = ['', 'openid', 'plants', 'plants:', 'plants:read', 'plants:write:all'];
  const received: string[] = [];
  let reads = 0;
  const service = createFetchService(t, {
    authenticate: (given) => {
      received.push(given);
      // A getter must not return one user for the check and another for the request.
      const readUser = (): string => {
        reads++;
        return 'ada';
      };
      if (given === token) return Object.defineProperty({ user: '', scopes }, 'user', { get: readUser });
      return given === 'eve' ? null : undefined;
    },
  });
  const refused = ['a b', '"ada"', 'ada,', '=', 'a=b', "' OR 1=1", 'eve', 'joe'].map((text) => `Bearer ${text}`);
  for (const authorization of ['Bearer', 'Bearer ', ...refused]) {
    const answered = await service.call('GET', '/plants', { headers: { authorization } });
    assert.deepEqual(outcome(answered), [401, 40102], authorization);
  }
  assert.deepEqual(outcome(await service.call('DELETE', '/plants/1', { token })), [403, 40300]);
  assert.equal((await service.call('GET', '/plants', { token })).status, 200);
  assert.deepEqual([received, reads, service.faults], [['eve', 'joe', token, token], 2, []]);
});

/** With zone.js, for example, the promises of async functions are not instances of the global Promise. */
const OtherPromise = runInNewContext('Promise') as PromiseConstructor;
const { proxy: unreadable, revoke } = Proxy.revocable({}, {});
revoke();
const inherited: unknown = Object.create({ user: 'ada', scope: ['plants:read'] });
/** What authenticate returns or throws, and how the service responds. */
const mistakes: readonly (({ returns: unknown; fault: RegExp } | { throws: unknown }) & { status?: number })[] = [
  { returns: 'ada', fault: /returned a string, not a Caller or null/ },
  { returns: {}, fault: /an invalid user/ },
  { returns: { user: 'ada', scopes: 'plants:read' }, fault: /scopes are not an array of strings/ },
  { returns: { user: 'ada', scopes: ['plants:read', 7] }, fault: /scopes are not an array of strings/ },
  { returns: { user: 'ada', tokenId: 7 }, fault: /tokenId is not a string/ },
  { returns: { user: 'ada', scope: ['plants:read'] }, fault: /the unknown member scope/ },
  { returns: inherited, fault: /the unknown member scope/ },
  { throws: unreadable },
  { throws: 'hunter2' },
  { throws: new PlantStoreError('saturated', 'hunter2') },
  { throws: new PlantStoreError('storage_unavailable'), status: 503 },
];

it('authenticate causes a 500 or 503 without details if it fails or returns an invalid Caller', async (t) => {
  for (const { status = 500, ...mistake } of mistakes) {
    const work = (): unknown => {
      if ('returns' in mistake) return mistake.returns;
      throw mistake.throws as Error;
    };
    for (const authenticate of [work, () => OtherPromise.resolve().then(work)]) {
      const service = createFetchService(t, { authenticate: authenticate as Authenticate });
      const answered = await service.call('GET', '/plants');
      assert.deepEqual(outcome(answered), status === 503 ? [503, 50301] : [500, 50000]);
      assert.equal(answered.headers.get('retry-after'), status === 503 ? '1' : null);
      assert.doesNotMatch(answered.text, /hunter2/);
      if ('throws' in mistake) assert.deepEqual(service.faults, [mistake.throws]);
      else assert.match(service.faults.map(String).join(), mistake.fault);
    }
  }
});

it('authenticate causes a 500 and a reported error if it does not settle within 10 seconds', async (t) => {
  mockTimers(t, { apis: ['setTimeout'] });
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

it('authenticate receives the method, the path, the headers and the request of the framework', async (t) => {
  const seen: unknown[] = [];
  const authenticate: Authenticate = (token, { method, path, header, raw }) => {
    seen.push([token, method, path, header('X-Tenant'), header('x-none'), header('constructor')], raw);
    return { user: 'ada' };
  };
  const [overNode, overFetch] = [await startService(t, { authenticate }), createFetchService(t, { authenticate })];
  for (const service of [overNode, overFetch]) {
    await service.call('DELETE', '/plants/7?a=b', { headers: { 'x-tenant': 'garden' } });
    assert.deepEqual(seen.shift(), ['ada', 'DELETE', '/plants/7', 'garden', undefined, undefined]);
    assert.ok(seen.pop() instanceof (service === overNode ? IncomingMessage : Request));
  }
});
