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
import type { CheckRequest, CheckResponse } from '../../../src/kits/conformance/exchange.ts';
import { issueCertificate } from '../../support/certificate.ts';
import { freePort, listen, listenUrl } from '../../support/listen.ts';
import { hasProgram } from '../../support/system-fault.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const get: CheckRequest = { method: 'GET', target: '/plants', headers: {} };

/** Starts a server and sends a request to it. */
async function sendTo(t: TestContext, listener: RequestListener, options = {}): Promise<CheckResponse> {
  return sendByFetch(await listenUrl(t, createServer(listener)), options)(get);
}

/**
 * Starts a server that supports HTTP/2. When the second request arrives, the server closes the connection without
 * responding to this request. Its GOAWAY frame states that it may have processed the requests up to `lastStreamId`. The
 * server adds the body of every other request to `processed`. Returns the server's URL.
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
    stream.on('error', () => undefined); // The client resets the stream.
    if (++received === 2) {
      stream.session?.goaway(0, lastStreamId);
      setTimeout(() => stream.session?.destroy(), 100);
      return;
    }
    void text(stream).then((body) => {
      processed.push(body);
      stream.respond({ ':status': 200 });
      stream.end(body);
    });
  });
  return `https://127.0.0.1:${await listen(t, server)}`;
}

describe('sendByFetch', () => {
  it('sends the method, target, headers and body, and returns the whole response', async (t) => {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const { method, url: target, headers } = request;
        response.writeHead(418, { 'X-Kind': 'teapot' });
        response.end(JSON.stringify([method, target, headers['content-type'], headers['x-a'], body]));
      });
    });
    const request = { method: 'POST', target: '/plants?a=%20', headers: { 'x-a': 'b' }, body: '{"id":1}' };
    const { status, headers, text: body } = await sendByFetch(`${await listenUrl(t, server)}/garden`)(request);
    assert.deepEqual([status, headers.get('x-kind')], [418, 'teapot']);
    // The null shows that `fetch` did not add a Content-Type header. In JSON arrays, undefined becomes null.
    assert.equal(body, '["POST","/garden/plants?a=%20",null,"b","{\\"id\\":1}"]');
  });

  it('does not follow redirects', async (t) => {
    const { status } = await sendTo(t, (_, response) => response.writeHead(307, { Location: '/other' }).end());
    assert.equal(status, 307);
  });

  it('sends requests to a function in this process', async () => {
    const fetch = async (request: Request): Promise<Response> => new Response(`${request.method} ${request.url}`);
    assert.equal((await sendByFetch('http://plants.example', { fetch })(get)).text, 'GET http://plants.example/plants');
  });

  it('rejects incomplete responses, bodies that are too long, and bodies that are not UTF-8', async (t) => {
    const rejected: [message: string, body: string | Buffer][] = [
      ['The response body is longer than 100 bytes.', 'x'.repeat(101)],
      ['The response body is not valid UTF-8.', Buffer.from([0x22, 0xfc, 0x22])],
      ['The response body is not valid UTF-8.', Buffer.from([0xc3])],
    ];
    for (const [message, body] of rejected) {
      const sent = sendTo(t, (_, response) => response.end(body), { maxBodyBytes: 100 });
      await assert.rejects(sent, { name: 'NoResponseError', message });
    }
    const sent = sendTo(t, (_, response) => void response.write('['), { timeoutMs: 100 });
    const message = 'No complete response arrived within 0.1 seconds.';
    await assert.rejects(sent, { name: 'NoResponseError', message });
    const { length } = (await sendTo(t, (_, response) => response.end('x'.repeat(100)), { maxBodyBytes: 100 })).text;
    assert.equal(length, 100);
  });

  for (const [behavior, lastStreamId, processed] of [
    ['repeats a request that was certainly not processed', 1, ['first', 'second']],
    ['does not repeat a request that may have been processed', 3, ['first']],
  ] as const) {
    it(`${behavior}, according to HTTP/2`, async (t) => {
      const isSupported = Number(process.versions.node.split('.')[0]) >= 26;
      if (!isSupported) t.skip('fetch supports HTTP/2 since Node.js 26');
      if (!isSupported || !hasProgram(t, 'openssl')) return;
      const found: string[] = [];
      const send = sendByFetch(await startClosingServer(t, lastStreamId, found));
      for (const body of ['first', 'second']) {
        const sent = send({ ...get, method: 'POST', body });
        if (body === 'first' || lastStreamId === 1) assert.equal((await sent).text, body);
        else await assert.rejects(sent, { name: 'NoResponseError' });
      }
      assert.deepEqual(found, processed);
    });
  }

  it('rejects with the reason if there is no server', async () => {
    const sent = sendByFetch(`http://127.0.0.1:${await freePort()}`)(get);
    await assert.rejects(sent, { name: 'NoResponseError', message: /ECONNREFUSED/ });
  });
});
