import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { sendByFetch } from '../../../src/kits/conformance/send-by-fetch.ts';
import type { CheckRequest } from '../../../src/kits/conformance/exchange.ts';
import { hasOpenssl, issueCertificate } from '../../support/certificate.ts';
import { listen as listenOn, listenUrl } from '../../support/listen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const get: CheckRequest = { method: 'GET', target: '/plants', headers: {} };
const post = (body: string): CheckRequest => ({ method: 'POST', target: '/plants', headers: {}, body });

function listen(t: HasAfter, listener: RequestListener): Promise<string> {
  return listenUrl(t, createServer(listener));
}

/** Returns whether `fetch` supports HTTP/2 and openssl is installed. Otherwise, the test is skipped. */
function canUseHttp2(t: TestContext): boolean {
  if (Number(process.versions.node.split('.')[0]) >= 26) return hasOpenssl(t);
  t.skip('The fetch of Node.js 22 and 24 does not support HTTP/2');
  return false;
}

/**
 * Starts a server that supports HTTP/2. When the second request arrives, it closes the connection, and does not respond
 * to this request. It says in the GOAWAY frame that it may have processed the requests up to `lastStreamId`. It adds the
 * body of each other request to `processed`. Returns its URL.
 */
async function startClosingServer(t: TestContext, lastStreamId: number, processed: string[]): Promise<string> {
  const { certificate, key } = issueCertificate(await temporaryFolder(t));
  const defaults = getCACertificates('default');
  setDefaultCACertificates([...defaults, readFileSync(certificate, 'utf8')]);
  t.after(() => {
    setDefaultCACertificates(defaults);
  });
  let received = 0;
  const server = createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key) });
  server.on('stream', (stream) => {
    const { session } = stream;
    stream.on('error', () => undefined); // the client resets the stream
    received++;
    if (received === 2) session?.goaway(0, lastStreamId);
    if (received === 2) return void setTimeout(() => session?.destroy(), 100);
    void text(stream).then((body) => {
      processed.push(body);
      stream.respond({ ':status': 200 });
      stream.end(body);
    });
  });
  return `https://127.0.0.1:${await listenOn(t, server)}`;
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

  it('repeats a request on a new connection if HTTP/2 guarantees that it was not processed', async (t) => {
    if (!canUseHttp2(t)) return;
    const processed: string[] = [];
    const send = sendByFetch(await startClosingServer(t, 1, processed));
    for (const body of ['first', 'second']) assert.equal((await send(post(body))).text, body);
    assert.deepEqual(processed, ['first', 'second']);
  });

  it('does not repeat a request that may have been processed', async (t) => {
    if (!canUseHttp2(t)) return;
    const processed: string[] = [];
    const send = sendByFetch(await startClosingServer(t, 3, processed));
    assert.equal((await send(post('first'))).text, 'first');
    await assert.rejects(send(post('second')), { name: 'NoResponseError' });
    assert.deepEqual(processed, ['first']);
  });

  it('names the reason if there is no server', async () => {
    await assert.rejects(sendByFetch('http://plants.invalid')(get), {
      name: 'NoResponseError',
      message: /plants\.invalid/,
    });
  });
});
