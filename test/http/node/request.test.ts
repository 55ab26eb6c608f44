import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { ServerOptions } from 'node:http';
import { describe, it } from 'node:test';
import { listen } from '../../support/listen.ts';
import { exchange, head, parseRawAnswers, statusesIn } from '../../support/raw-http.ts';
import { createListener, startService } from '../../support/service.ts';

const token = 'Authorization: Bearer ada\r\n';
const plant = '{"id":1,"name":"Fern"}';
const posted = `Content-Type: application/json\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;
const chunked = `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n16\r\n${plant}\r\n0\r\n\r\n`;

const start = 'POST /plants HTTP/1.1\r\n';

const malformed: Record<string, string> = {
  'two Hosts': `${start}Host: x\r\n${head}${posted}`,
  'two Hosts in HTTP/1.0': `POST /plants HTTP/1.0\r\nHost: x\r\n${head}${posted}`,
  'HTTP/2.0': `POST /plants HTTP/2.0\r\n${head}${posted}`,
  'HTTP/0.9': `POST /plants HTTP/0.9\r\n${head}${posted}`,
  'no version': `POST /plants\r\n${head}${posted}`,
  'a transfer coding in HTTP/1.0': `POST /plants HTTP/1.0\r\n${head}${chunked}`,
  'an unknown transfer coding': `${start}${head}${chunked.replace('chunked', 'gzip, chunked')}`,
  'Content-Length and Transfer-Encoding': `${start}${head}Content-Length: ${plant.length}\r\n${chunked}`,
  'two Content-Lengths that differ': `${start}${head}Content-Length: 5\r\n${posted}`,
  'a header that begins with a space': `${start} ${head}${posted}`,
  'a NUL in a header': `${start}${head}X: a\0b\r\n${posted}`,
  'a bare LF after a header': `${start}${head.replace('\r\n', '\n')}${posted}`,
};

describe('a malformed request', () => {
  for (const [name, text] of Object.entries(malformed)) {
    it(`gets 400 and has no effect: ${name}`, async (t) => {
      const { store, port, faults } = await startService(t);
      const [answer, ...others] = parseRawAnswers(await exchange(t, port, text));
      assert.deepEqual([answer?.status, answer?.error, others], [400, 40009, []]);
      assert.deepEqual([await store.listPlants('ada'), faults], [[], []]);
    });
  }

  it('is not confused with an unusual but valid request', async (t) => {
    const { store, port } = await startService(t);
    const unusual = [
      `${start}hOST:[::1]:80 \t\r\n${token}`,
      `\r\n${start}${head}X-Empty:\r\nX: \u00e9\r\n`,
      `POST HTTP://other.example:99/plants HTTP/1.1\r\n${head}`,
      `POST http://x/plants?a=?&b=http://x/ HTTP/1.1\r\n${head}`,
    ];
    for (const [index, header] of unusual.entries()) {
      const body = `{"id":${index},"name":"Fern"}`;
      const framing = `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
      const text = `${header}Content-Type: application/json\r\n${framing}${body}`;
      assert.deepEqual(statusesIn(await exchange(t, port, text)), [200], header);
    }
    assert.equal((await store.listPlants('ada')).length, unusual.length);
  });
});

describe('a repeated Authorization header', () => {
  it('gets 401, even if the first token is valid', async (t) => {
    const { store, port } = await startService(t);
    const text = `${start}${head}Connection: close\r\nAuthorization: Bearer eve\r\n${posted}`;
    const [answer] = parseRawAnswers(await exchange(t, port, text));
    assert.deepEqual([answer?.status, answer?.error], [401, 40102]);
    assert.deepEqual(await store.listPlants('ada'), []);
  });
});

describe('a request without a body', () => {
  it('gets a response from a server with the option optimizeEmptyRequests', { timeout: 20_000 }, async (t) => {
    // The type of the options does not contain this option.
    const options = { optimizeEmptyRequests: true } as ServerOptions;
    const { listener } = createListener(t);
    const server = createServer(options, (request, response) => void listener(request, response));
    const port = await listen(t, server);
    const text = `${start}${head}Content-Type: application/json\r\nConnection: close\r\n\r\n`;
    const [answer] = parseRawAnswers(await exchange(t, port, text));
    assert.deepEqual([answer?.status, answer?.error], [400, 40001]);
  });
});
