import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Caller } from '../../src/http.ts';
import type { Answered } from '../support/call.ts';
import { parseRawAnswer, RawConnection } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const fern = { body: '{"id":1,"name":"Fern"}' };

const outcome = ({ status, error }: Answered): unknown[] => [status, error];

const challengeOf = ({ headers }: Answered): string | null => headers.get('www-authenticate');

describe('bearer tokens', () => {
  it('are not passed to authenticate if they are malformed', async (t) => {
    const received: string[] = [];
    const authenticate = (token: string): Caller => {
      received.push(token);
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
    assert.deepEqual(received, ['A-._~+/z9==']);
  });

  it('are read from the Authorization header only, which must be sent once', async (t) => {
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

  it('are restricted to their scopes', async (t) => {
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
