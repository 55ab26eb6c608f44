import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { readBody } from '../../../src/http/node/request-body.ts';
import { listen } from '../../support/listen.ts';
import { head, parseRawAnswer, post, RawConnection } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';
import { once } from 'node:events';
import { drainServer } from '../../../src/http.ts';

describe('readBody', () => {
  it('rejects when the client disconnects before the body is complete', async (t) => {
    const outcome = Promise.withResolvers<unknown>();
    const server = createServer((request) => {
      Promise.resolve(readBody(request, 1000, () => undefined)).then(outcome.resolve, outcome.reject);
      connection.socket.resetAndDestroy();
    });
    const connection = await RawConnection.open(t, await listen(t, server));
    connection.send(post('{"id":1,"name":"Fe', 100));
    await assert.rejects(outcome.promise, { code: 'malformed_request' });
  });

  it('stops reading a body that is too large after a few thousand one-byte chunks', async (t) => {
    const { port } = await startService(t, { maxBodyBytes: 100 });
    const connection = await RawConnection.open(t, port);
    connection.send(
      `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    // 1 MiB, with each chunk counted as 64 bytes. The body itself never ends.
    connection.send('1\r\nx\r\n'.repeat(100 + 1_048_576 / 64 + 1));
    const answer = await connection.untilClosed();
    assert.match(answer, /^HTTP\/1\.1 400 .*"error":40008/s);
  });

  it('joins a body that arrives in one-byte chunks', async (t) => {
    const { port, store } = await startService(t);
    const connection = await RawConnection.open(t, port);
    const name = 'Fern'.repeat(1000);
    const pieces = Array.from(`{"id":1,"name":"${name}"}`, (byte) => `1\r\n${byte}\r\n`).join('');
    connection.send(
      `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (let at = 0; at < pieces.length; at += 5000) connection.send(pieces.slice(at, at + 5000));
    connection.send('0\r\n\r\n');
    await connection.until(/\}$/);
    assert.deepEqual(await store.listPlants('ada'), [{ id: 1n, name }]);
  });
});

describe('a client that disconnects before its body is complete', () => {
  it('is not reported as a fault, and creates no plant', async (t) => {
    const { store, server, port, faults } = await startService(t);
    const connection = await RawConnection.open(t, port);
    const received = once(server, 'request');
    connection.send(post('{"id":1,"name":"Fe', 100));
    await received;
    connection.socket.resetAndDestroy();
    const other = await RawConnection.open(t, port);
    other.send('GET /pl');
    other.socket.resetAndDestroy();
    await drainServer(server, 5000);
    assert.deepEqual(await store.listPlants('ada'), []);
    assert.deepEqual(faults, []);
  });
});

describe('the body of a request without a token', () => {
  const stranger = 'POST /plants HTTP/1.1\r\nHost: x\r\n';

  it('is not read if it has no end, and the request gets one response', async (t) => {
    const { port } = await startService(t);
    for (const framing of [
      'Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\nzz\r\n',
      'Content-Length: 100000000000\r\n\r\n',
    ]) {
      const connection = await RawConnection.open(t, port);
      connection.send(stranger + framing);
      const { status, head: headers } = parseRawAnswer(await connection.untilClosed());
      assert.equal(status, 401);
      assert.match(headers, /^Connection: close\r?$/m);
    }
  });

  it('is discarded if it is short, and the connection stays open', async (t) => {
    const { port } = await startService(t);
    const connection = await RawConnection.open(t, port);
    connection.send(`${stranger}Content-Length: 5\r\n\r\nab`);
    await connection.until(/40101/);
    connection.send(`cdeGET /plants HTTP/1.1\r\n${head}\r\n`);
    await connection.until(/\[\]$/);
  });

  it('causes no second response if it never arrives', async (t) => {
    const { server, port } = await startService(t);
    server.headersTimeout = 100;
    server.requestTimeout = 100;
    const connection = await RawConnection.open(t, port);
    connection.send(`${stranger}Content-Length: 5\r\n\r\nab`);
    assert.equal((await connection.untilClosed()).split('HTTP/1.1 ').length, 2);
  });
});

describe('a body that is far too large', () => {
  it('gets its response while it is being received, then the connection is closed', async (t) => {
    const { port } = await startService(t);
    const connection = await RawConnection.open(t, port);
    connection.send(post('', 1e12));
    for (let n = 0; n < 18; n++) connection.send(' '.repeat(65_536));
    const { status, error, head: headers } = parseRawAnswer(await connection.until(/\}$/));
    assert.deepEqual([status, error], [400, 40008]);
    assert.match(headers, /^Connection: close\r?$/m);
    await connection.untilClosed();
  });
});
