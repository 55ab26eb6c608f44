import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { readBody } from '../../../src/http/node/request-body.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { head, post, start } from '../../support/raw-service.ts';

describe('readBody', () => {
  it('rejects where the client goes away in the middle, so that nobody waits for the rest', async (t) => {
    const outcome = Promise.withResolvers<unknown>();
    const server = createServer((request) => {
      Promise.resolve(readBody(request, 1000, () => undefined)).then(outcome.resolve, outcome.reject);
      connection.socket.resetAndDestroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      server.close();
    });
    const connection = await RawConnection.open(t, (server.address() as AddressInfo).port);
    connection.send(post('{"id":1,"name":"Fe', 100));
    await assert.rejects(outcome.promise, { code: 'malformed_request' });
  });

  it('stops reading a body that is too large and comes a byte at a time after a few thousand chunks', async (t) => {
    const { port } = await start(t, undefined, { maxBodyBytes: 100 });
    const connection = await RawConnection.open(t, port);
    connection.send(
      `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    // 1 MiB counted as 64 bytes a chunk; the body itself never ends.
    connection.send('1\r\nx\r\n'.repeat(100 + 1_048_576 / 64 + 1));
    const answer = await connection.untilClosed();
    assert.match(answer, /^HTTP\/1\.1 400 .*"error":40008/s);
  });

  it('puts a body together that comes a byte at a time', async (t) => {
    const { port, store } = await start(t);
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
