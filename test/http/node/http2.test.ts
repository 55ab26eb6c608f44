import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, createSecureServer, createServer } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { listen } from '../../support/listen.ts';
import { createListener } from '../../support/service.ts';

/**
 * The listener's type is also valid for node:http2, whose request and response types differ from those of node:http.
 */
interface Http2Service {
  readonly listener: RequestListener & NonNullable<Parameters<typeof createServer>[1]>;
  readonly faults: unknown[];
}

const refusal = { error: 40009, message: 'This service supports HTTP/1.1, but not HTTP/2.' };

/** TLS with a pre-shared key needs no certificate. */
const tls = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
const sharedKey = { identity: 'test', psk: Buffer.alloc(16, 1) };
const clientTls = { ...tls, pskCallback: () => sharedKey, checkServerIdentity: () => undefined };

async function request(session: ClientHttp2Session, method: string): Promise<[status: unknown, body: unknown]> {
  const stream = session.request({ ':method': method, ':path': '/plants', authorization: 'Bearer ada' });
  if (method === 'POST') stream.end('{"id":1,"name":"Fern"}');
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
  return [headers[':status'], await json(stream)];
}

describe('createRequestListener on a node:http2 server', () => {
  it('rejects every request with a message that names HTTP/1.1, and reports what to change', async (t) => {
    const { listener, faults } = createListener(t) as unknown as Http2Service;
    const session = connect(`http://127.0.0.1:${await listen(t, createServer(listener))}`);
    t.after(() => {
      session.destroy();
    });
    for (const method of ['GET', 'POST']) assert.deepEqual(await request(session, method), [400, refusal]);
    assert.equal(faults.length, 2);
    assert.match(String(faults), /^Error: createRequestListener supports HTTP\/1\.1 only: .*node:http or node:https/);
  });

  it('serves HTTP/1.1 requests on a secure server with allowHTTP1', async (t) => {
    const { listener, faults } = createListener(t) as unknown as Http2Service;
    const server = createSecureServer({ ...tls, allowHTTP1: true, pskCallback: () => sharedKey.psk }, listener);
    const port = await listen(t, server);
    const headers = { authorization: 'Bearer ada' };
    const sent = get({ port, host: '127.0.0.1', path: '/plants', headers, agent: false, ...clientTls });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    assert.deepEqual([response.statusCode, await json(response)], [200, []]);
    assert.deepEqual(faults, []);
  });
});
