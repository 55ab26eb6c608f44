import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestMessage } from '../../../src/http.ts';
import { messagesOf } from '../../support/messages.ts';
import { createFetchService } from '../../support/service.ts';
import { createPlants } from '../../support/stored-plants.ts';
import { newRequest } from './requests.ts';

describe('createFetchHandler', () => {
  it('publishes list messages on consumption or cancellation, and other messages immediately', async (t) => {
    const { send, store } = createFetchService(t, { trustedProxies: 1 });
    await createPlants(store, 1001);
    const messages = messagesOf<RequestMessage>(t, 'plant-store:request');
    const headers = { authorization: 'Bearer ada', 'x-request-id': 'a', 'x-forwarded-for': '192.0.2.1' };
    const consumed = await send(newRequest('GET', '/plants', { headers }));
    assert.equal(messages.length, 0);
    await consumed.text();
    const canceled = await send(newRequest('GET', '/plants', { headers }));
    await canceled.body?.cancel();
    await send(newRequest('HEAD', '/plants', { headers }));
    await send(newRequest('DELETE', '/plants/1', { headers }));
    const ended = messages.map(({ operation, status, isComplete }) => [operation, status, isComplete].join(' '));
    const expected = ['getPlants 200 true', 'getPlants 200 false', 'getPlants 200 true', 'deletePlant 204 true'];
    assert.deepEqual(ended, expected);
    const { requestId, client, bytes } = messages[0] ?? {};
    assert.deepEqual([requestId, client, bytes], ['a', '192.0.2.1', undefined]);
  });

  it('ignores the fragment, the host and the scheme of a URL', async (t) => {
    const { send } = createFetchService(t);
    for (const url of ['http://x/plants#limit', 'https://x:8443/plants?limit=1', 'app://garden/plants']) {
      const response = await send(new Request(url, { headers: { authorization: 'Bearer ada' } }));
      assert.deepEqual([response.status, await response.text()], [200, '[]'], url);
    }
    for (const url of ['http://plants', 'http://x//plants', 'http://x/?/plants', 'data:/plants']) {
      assert.equal((await send(new Request(url))).status, 404, url);
    }
  });
});
