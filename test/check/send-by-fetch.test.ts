import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { sendByFetch } from '../../src/check/send-by-fetch.ts';
import type { CheckRequest } from '../../src/check/exchange.ts';
import { listenUrl } from '../support/listen.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const get: CheckRequest = { method: 'GET', target: '/plants', headers: {} };

function listen(t: HasAfter, listener: RequestListener): Promise<string> {
  return listenUrl(t, createServer(listener));
}

describe('sendByFetch', () => {
  it('sends the method, target, headers and body, and returns the whole response', async (t) => {
    const url = await listen(t, (request, response) => {
      void text(request).then((body) => {
        const { method, url: target, headers } = request;
        response.writeHead(418, { 'X-Kind': 'teapot' });
        response.end(JSON.stringify([method, target, headers['content-type'], headers['x-a'], body]));
      });
    });
    const request = { method: 'POST', target: '/plants?a=%20', headers: { 'x-a': 'b' }, body: '{"id":1}' };
    const { status, headers, text: body } = await sendByFetch(`${url}/garden`)(request);
    assert.deepEqual([status, headers.get('x-kind')], [418, 'teapot']);
    // A header that the check did not set is not sent: JSON has no undefined, so it becomes null.
    assert.equal(body, '["POST","/garden/plants?a=%20",null,"b","{\\"id\\":1}"]');
  });

  it('does not follow redirects', async (t) => {
    const url = await listen(t, (_, response) => response.writeHead(307, { Location: '/other' }).end());
    assert.equal((await sendByFetch(url)(get)).status, 307);
  });

  it('sends requests to a function in this process', async () => {
    const fetch = async (request: Request): Promise<Response> => new Response(`${request.method} ${request.url}`);
    assert.equal((await sendByFetch('http://plants.example', { fetch })(get)).text, 'GET http://plants.example/plants');
  });

  it('rejects if no complete response arrives in time', async (t) => {
    const url = await listen(t, (_, response) => void response.write('['));
    await assert.rejects(sendByFetch(url, { timeoutMs: 100 })(get), {
      name: 'NoResponseError',
      message: 'No complete response arrived within 0.1 seconds.',
    });
  });

  it('rejects a body that is too long', async (t) => {
    const url = await listen(t, (_, response) => response.end('x'.repeat(101)));
    const send = sendByFetch(url, { maxBodyBytes: 100 });
    await assert.rejects(send(get), {
      name: 'NoResponseError',
      message: 'The response body is longer than 100 bytes.',
    });
    assert.equal((await sendByFetch(url, { maxBodyBytes: 101 })(get)).text.length, 101);
  });

  it('rejects a body that is not UTF-8', async (t) => {
    const bodies = [Buffer.from([0x22, 0xfc, 0x22]), Buffer.from([0xc3])];
    const url = await listen(t, (_, response) => response.end(bodies.pop()));
    for (let count = 0; count < 2; count++) {
      await assert.rejects(sendByFetch(url)(get), { message: 'The response body is not valid UTF-8.' });
    }
  });

  it('names the reason if there is no server', async () => {
    await assert.rejects(sendByFetch('http://plants.invalid')(get), {
      name: 'NoResponseError',
      message: /plants\.invalid/,
    });
  });
});
