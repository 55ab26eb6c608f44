import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Caller } from '../../src/http.ts';
import { startService } from '../support/service.ts';

describe('bearer tokens', () => {
  it('are not passed to authenticate if they are malformed', async (t) => {
    const received: string[] = [];
    const authenticate = (token: string): Caller => {
      received.push(token);
      return { user: 'ada' };
    };
    const service = await startService(t, { authenticate });
    for (const token of ['a b', '"ada"', 'ada,', '=', 'a=b', "' OR 1=1"]) {
      assert.equal((await service.call('GET', '/plants', { token })).status, 401, token);
    }
    assert.equal((await service.call('GET', '/plants', { token: 'A-._~+/z9==' })).status, 200);
    assert.deepEqual(received, ['A-._~+/z9==']);
  });
});
