import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { drainServer } from '../../../src/http.ts';
import { readBody } from '../../../src/http/node/request-body.ts';
import { listen } from '../../support/listen.ts';
import {
  begin,
  chunkedPost,
  exchange,
  get,
  head,
  listRequest,
  parseRawAnswer,
  parseRawAnswers,
  post,
  RawConnection,
  statusesIn,
} from '../../support/raw-http.ts';
import { startImpatientService, startService } from '../../support/service.ts';

describe('readBody', () => {
  it('rejects when the client disconnects before the body is complete', async (t) => {
    const outcome = Promise.withResolvers<unknown>();
    const server = createServer((request) => {
      readBody(request, 1000).then(outcome.resolve, outcome.reject);
      connection.socket.resetAndDestroy();
    });
    const connection = await RawConnection.open(t, await listen(t, server));
    connection.send(post('{"id":1,"name":"Fe', 100));
    await assert.rejects(outcome.promise, { code: 'malformed_request' });
  });

  it('stops reading a body of one-byte chunks when it is too large', async (t) => {
    const { port } = await startService(t, { maxBodyBytes: 100 });
    // The body never ends.
    const answer = await exchange(t, port, chunkedPost + '1\r\nx\r\n'.repeat(101));
    assert.match(answer, /^HTTP\/1\.1 400 .*"error":40008/s);
  });

  it('joins a body that arrives in one-byte chunks', async (t) => {
    const { port, store } = await startService(t);
    const connection = await RawConnection.open(t, port, chunkedPost);
    const name = 'Fern'.repeat(1000);
    const pieces = Array.from(`{"id":1,"name":"${name}"}`, (byte) => `1\r\n${byte}\r\n`).join('');
    for (let at = 0; at < pieces.length; at += 5000) connection.send(pieces.slice(at, at + 5000));
    connection.send('0\r\n\r\n');
    await connection.until(/\}$/);
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name }]);
  });
});

describe('a POST without a body', () => {
  it('is invalid JSON, and the connection stays open', async (t) => {
    const { port, faults } = await startService(t);
    const empty = `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\n\r\n`;
    const answers = parseRawAnswers(await exchange(t, port, empty + get('/plants', 'Connection: close\r\n')));
    assert.deepEqual(
      answers.map(({ status, error }) => [status, error]),
      [
        [400, 40001],
        [200, undefined],
      ],
    );
    assert.deepEqual(faults, []);
  });
});

describe('a client that disconnects before its body is complete', () => {
  it('is not reported as a fault, and creates no plant', async (t) => {
    const service = await startService(t);
    const { connection } = await begin(t, service, post('{"id":1,"name":"Fe', 100));
    connection.socket.resetAndDestroy();
    (await RawConnection.open(t, service.port, 'GET /pl')).socket.resetAndDestroy();
    await drainServer(service.server, 5000);
    assert.deepEqual([await service.store.listPlants('ada'), service.faults], [[], []]);
  });
});

describe('the body of a request without a token', () => {
  const stranger = 'POST /plants HTTP/1.1\r\nHost: x\r\n';

  it('is not read if it has no end, and the request gets one response', async (t) => {
    const { port } = await startService(t);
    for (const framing of [
      'Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n',
      'Content-Length: 100000000000\r\n\r\n',
    ]) {
      const connection = await RawConnection.open(t, port, stranger + framing);
      await connection.until(/40101/);
      connection.send('zz\r\n');
      const { status, head: headers } = parseRawAnswer(await connection.untilClosed());
      assert.equal(status, 401);
      assert.match(headers, /^Connection: close\r?$/m);
    }
  });

  it('causes one response if it is not valid HTTP', async (t) => {
    const { port, faults } = await startService(t);
    const text = await exchange(t, port, `${stranger}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
    assert.deepEqual(statusesIn(text), [400]);
    assert.deepEqual(faults, []);
  });

  it('is discarded if it has arrived with the header, and the connection stays open', async (t) => {
    const { port } = await startService(t);
    const chunked = 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n';
    const text = `${stranger}Content-Length: 5\r\n\r\nabcde${stranger}${chunked}${listRequest}`;
    const connection = await RawConnection.open(t, port, text);
    assert.deepEqual(statusesIn(await connection.until(/\[\]$/)), [401, 401, 200]);
  });

  it('is discarded if it is incomplete, and the connection is closed', async (t) => {
    let lookups = 0;
    const { port } = await startService(t, { authenticate: (user) => (lookups++, { user }) });
    const connection = await RawConnection.open(t, port, `${stranger}Content-Length: 5\r\n\r\nab`);
    await connection.until(/\r\nConnection: close\r\n[^]*40101/);
    connection.send(`cde${listRequest}`);
    assert.deepEqual(statusesIn(await connection.untilClosed()), [401]);
    assert.equal(lookups, 0, 'the later request was handled');
  });

  it('causes no second response if it never arrives', async (t) => {
    const { port } = await startImpatientService(t);
    assert.deepEqual(statusesIn(await exchange(t, port, `${stranger}Content-Length: 5\r\n\r\nab`)), [401]);
  });
});

describe('a body that is far too large', () => {
  it('gets its response while it is being received, then the connection is closed', async (t) => {
    const { port } = await startService(t);
    const connection = await RawConnection.open(t, port, post('', 1e12));
    for (let n = 0; n < 18; n++) connection.send(' '.repeat(65_536));
    const { status, error, head: headers } = parseRawAnswer(await connection.until(/\}$/));
    assert.deepEqual([status, error], [400, 40008]);
    assert.match(headers, /^Connection: close\r?$/m);
    await connection.untilClosed();
  });
});
