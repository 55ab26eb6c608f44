import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import type { PlantStore } from '../../../src/index.ts';
import { listen } from '../../support/listen.ts';
import {
  exchange,
  head,
  parseRawAnswer,
  parseRawAnswers,
  post,
  RawConnection,
  statusesIn,
} from '../../support/raw-http.ts';
import { createListener, startService } from '../../support/service.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

const token = 'Authorization: Bearer ada\r\n';
const plant = '{"id":1,"name":"Fern"}';
const posted = `Content-Type: application/json\r\nContent-Length: ${plant.length}\r\n\r\n${plant}`;
const chunked = `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n16\r\n${plant}\r\n0\r\n\r\n`;

const malformed: Record<string, string> = {
  'no Host': `POST /plants HTTP/1.1\r\n${token}${posted}`,
  'two Hosts': `POST /plants HTTP/1.1\r\nHost: x\r\n${head}${posted}`,
  'two Hosts in HTTP/1.0': `POST /plants HTTP/1.0\r\nHost: x\r\n${head}${posted}`,
  'a Host with a space': `POST /plants HTTP/1.1\r\nHost: x y\r\n${token}${posted}`,
  'a Host with user information': `POST /plants HTTP/1.1\r\nHost: eve@x\r\n${token}${posted}`,
  'a Host with a path': `POST /plants HTTP/1.1\r\nHost: x/y\r\n${token}${posted}`,
  'a Host with a port that is not a number': `POST /plants HTTP/1.1\r\nHost: x:y\r\n${token}${posted}`,
  'HTTP/2.0': `POST /plants HTTP/2.0\r\n${head}${posted}`,
  'HTTP/1.2': `POST /plants HTTP/1.2\r\n${head}${posted}`,
  'HTTP/0.9': `POST /plants HTTP/0.9\r\n${head}${posted}`,
  'no version': `POST /plants\r\n${head}${posted}`,
  'a transfer coding in HTTP/1.0': `POST /plants HTTP/1.0\r\n${head}${chunked}`,
  'an unknown transfer coding': `POST /plants HTTP/1.1\r\n${head}${chunked.replace('chunked', 'gzip, chunked')}`,
  'chunked twice': `POST /plants HTTP/1.1\r\n${head}${chunked.replace('chunked', 'chunked, chunked')}`,
  'two Transfer-Encodings': `POST /plants HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n${chunked}`,
  'Content-Length and Transfer-Encoding': `POST /plants HTTP/1.1\r\n${head}Content-Length: ${plant.length}\r\n${chunked}`,
  'two Content-Lengths': `POST /plants HTTP/1.1\r\n${head}Content-Length: ${plant.length}\r\n${posted}`,
  'two Content-Lengths that differ': `POST /plants HTTP/1.1\r\n${head}Content-Length: 5\r\n${posted}`,
  'a Content-Length with a sign': `POST /plants HTTP/1.1\r\n${head}${posted.replace(': 22', ': +22')}`,
  'a Content-Length in hexadecimal': `POST /plants HTTP/1.1\r\n${head}${posted.replace(': 22', ': 0x16')}`,
  'a Content-Length that is a list': `POST /plants HTTP/1.1\r\n${head}${posted.replace(': 22', ': 22, 22')}`,
  'a Content-Length past 2^64': `POST /plants HTTP/1.1\r\n${head}${posted.replace(': 22', ': 18446744073709551638')}`,
  'a space before a colon': `POST /plants HTTP/1.1\r\n${head.replace('Host:', 'Host :')}${posted}`,
  'a folded header': `POST /plants HTTP/1.1\r\n${head}X: a\r\n b\r\n${posted}`,
  'a header that begins with a space': `POST /plants HTTP/1.1\r\n ${head}${posted}`,
  'a NUL in a header': `POST /plants HTTP/1.1\r\n${head}X: a\0b\r\n${posted}`,
  'a bare CR in a header': `POST /plants HTTP/1.1\r\n${head}X: a\rb\r\n${posted}`,
  'a bare LF after a header': `POST /plants HTTP/1.1\r\n${head.replace('\r\n', '\n')}${posted}`,
  'a chunk size with a sign': `POST /plants HTTP/1.1\r\n${head}${chunked.replace('\r\n16\r\n', '\r\n+16\r\n')}`,
  'a chunk size with 0x': `POST /plants HTTP/1.1\r\n${head}${chunked.replace('\r\n16\r\n', '\r\n0x16\r\n')}`,
  'a chunk that is longer than its size': `POST /plants HTTP/1.1\r\n${head}${chunked.replace('\r\n16\r\n', '\r\n15\r\n')}`,
  'an unknown method': `PLANT /plants HTTP/1.1\r\n${head}${posted}`,
};

describe('a malformed request', () => {
  for (const [name, text] of Object.entries(malformed)) {
    it(`gets 400 and has no effect: ${name}`, async (t) => {
      const { store, port, faults } = await startService(t);
      const answers = parseRawAnswers(await exchange(t, port, text));
      assert.deepEqual(
        answers.map(({ status, error }) => [status, error]),
        [[400, 40009]],
      );
      assert.deepEqual([await store.listPlants('ada'), faults], [[], []]);
    });
  }

  it('is not confused with an unusual but valid request', async (t) => {
    const { store, port } = await startService(t);
    const unusual = [
      ...['', 'x', 'X.Example:', 'x:80', '127.0.0.1:3000', '[::1]:80', 'a_b-c~%20'].map(
        (host) => `POST /plants HTTP/1.1\r\nhOST:${host} \t\r\n${token}`,
      ),
      `\r\nPOST /plants HTTP/1.1\r\n${head}X-Empty:\r\nX: \u00e9\r\n`,
      `POST http://other.example:99/plants HTTP/1.1\r\n${head}`,
    ];
    for (const [index, start] of unusual.entries()) {
      const body = `{"id":${index},"name":"Fern"}`;
      const framing = `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
      const text = `${start}Content-Type: application/json\r\n${framing}${body}`;
      assert.deepEqual(statusesIn(await exchange(t, port, text)), [200], start);
    }
    assert.equal((await store.listPlants('ada')).length, unusual.length);
  });
});

describe('a header with many fields', () => {
  /** Returns a request whose header consists of `count` fields. The last fields are those in `last`. */
  const withFields = (count: number, last: string): string => {
    const start = `${head}Content-Type: application/json\r\nContent-Length: ${plant.length}\r\n`;
    const filler = count - `${start}${last}`.split('\r\n').length + 1;
    return `POST /plants HTTP/1.1\r\n${start}${'a:\r\n'.repeat(filler)}${last}\r\n${plant}`;
  };
  const servers: Record<string, (t: HasAfter) => Promise<{ port: number; store: PlantStore }>> = {
    'a server from createPlantServer': startService,
    'a node:http server with default settings': async (t) => {
      const { store, listener } = createListener(t);
      return { store, port: await listen(t, createServer(listener)) };
    },
  };
  for (const [name, start] of Object.entries(servers)) {
    it(`is accepted with 128 fields: ${name}`, async (t) => {
      const { port, store } = await start(t);
      const text = withFields(128, 'Connection: close\r\n');
      assert.deepEqual(statusesIn(await exchange(t, port, text)), [200]);
      assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
    });

    // Otherwise, Node.js 22 and 24 drop the last fields without an error, whatever they mean.
    it(`gets 431 and has no effect with more than 128 fields: ${name}`, async (t) => {
      const { port, store } = await start(t);
      for (const count of [129, 130, 160, 2001, 3000]) {
        for (const last of ['X: y\r\n', 'Authorization: Bearer eve\r\n', 'Host: y\r\n']) {
          const answers = await exchange(t, port, withFields(count, last));
          assert.deepEqual(statusesIn(answers), [431], `${count} fields, the last is ${last}`);
        }
      }
      assert.deepEqual(await store.listPlants('ada'), []);
    });
  }
});

describe('a header that is sent twice', () => {
  it('is refused if the two values could differ in meaning', async (t) => {
    const { store, port } = await startService(t);
    const twice = [
      [post(plant).replace('Content-Type', 'Content-Type: text/plain\r\nContent-Type'), 400, 40007],
      [post(plant).replace('Content-Type', 'Content-Type: application/json\r\nContent-Type'), 400, 40007],
      [post(plant).replace('Content-Type', 'Content-Type: application/json; a=b\r\nContent-Type'), 400, 40007],
      [post(plant).replace('Authorization', 'Authorization: Bearer eve\r\nAuthorization'), 401, 40102],
      [post(plant).replace('Content-Type', 'Authorization: Bearer eve\r\nContent-Type'), 401, 40102],
    ] as const;
    for (const [text, status, error] of twice) {
      const answer = parseRawAnswer(await (await RawConnection.open(t, port, text)).until(/\}$/));
      assert.deepEqual([answer.status, answer.error], [status, error]);
    }
    for (const user of ['ada', 'eve']) assert.deepEqual(await store.listPlants(user), []);
  });
});
